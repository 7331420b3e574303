"""Growing boards: carried-over nets, convergence, params, and the stages on 4x4 and 5x5."""

import dataclasses
import shutil
from pathlib import Path

import pytest
import torch

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, read_table
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import build
from pipeline_src.records.record import read_records
from pipeline_src.systems.gomoku_zero.models import load_model, make_net, save_model
from pipeline_src.systems.gomoku_zero.nets import PlainConfig, ResidualConfig, UniformConfig, UniformNet
from pipeline_src.systems.gomoku_zero.params import setting_for
from pipeline_src.systems.growing_boards import evaluate as growing_evaluate
from pipeline_src.systems.growing_boards import growth
from pipeline_src.systems.growing_boards.growth import (
    Progress,
    _progress,
    carry_over,
    grow,
    has_converged,
    multiply_adds,
)
from pipeline_src.systems.growing_boards.params import (
    CURVE,
    BoardFiles,
    GrowingBoard,
    GrowingConvergence,
    GrowingEvaluateParams,
    read_board,
    read_boards,
)
from tests.run_stage import check_kill
from tests.systems.gomoku_zero.small import SECTIONS, fresh, some_planes
from tests.systems.gomoku_zero.test_generation import contents

PLAIN = PlainConfig(height=6, width=6, positions=1, filters=(5, 7), signed=True)


def grown(small, size):
    torch.manual_seed(3)
    return carry_over(small, small.config.model_copy(update={"height": size, "width": size}))


@pytest.mark.parametrize(
    "config",
    [
        PLAIN,
        ResidualConfig(
            height=6, width=6, positions=2, stem_filters=4, stem_kernel=3, widths=(6, 8), blocks=2, value_hidden=3
        ),
    ],
)
def test_hidden_layers_are_carried_over_and_heads_are_new(config):
    small = fresh(config)
    large = grown(small, 9)
    logits, value = large(some_planes(large.config))
    assert logits.shape == (8, 81)
    assert value.shape == (8,)
    mine, theirs = small.state_dict(), large.state_dict()
    hidden = [name for name in mine if name.split(".")[0] in ("trunk", "stem", "blocks", "norm")]
    assert len(hidden) >= 12
    for name in hidden:
        assert torch.equal(mine[name], theirs[name]), name
    for name in set(mine) - set(hidden):
        if theirs[name].numel() > 1 and theirs[name].std() > 0:  # a new norm's scales are all one
            assert mine[name].shape != theirs[name].shape or not torch.equal(mine[name], theirs[name]), name


def test_a_convolutional_net_is_carried_over_whole():
    small = fresh(PLAIN.model_copy(update={"head": "convolutional"}))
    large = grown(small, 9)
    assert all(torch.equal(tensor, large.state_dict()[name]) for name, tensor in small.state_dict().items())
    planes = torch.zeros(1, 3, 6, 6)
    planes[0, 0, 2, 2] = planes[0, 1, 2, 3] = 1
    wide = torch.nn.functional.pad(planes, (0, 3, 0, 3))
    with torch.no_grad():
        policy, wider = (net(p)[0].reshape(p.shape[-2:]) for net, p in ((small, planes), (large, wide)))
    assert torch.allclose(policy[0, 0], wider[0, 0], atol=1e-6)  # four layers of 3x3 see nothing of what is new there


def test_a_signed_net_sees_only_the_stones():
    net = fresh(PLAIN)
    planes = some_planes(PLAIN)
    other = planes.clone()
    other[:, 2] = 1 - other[:, 2]  # who is to move
    both = (planes[:, 0] == 1) & (planes[:, 1] == 1)
    other[:, :2][both[:, None].expand(-1, 2, -1, -1)] = 0  # 1 - 1 is 0
    with torch.no_grad():
        for one, two in zip(net(planes), net(other), strict=True):
            assert torch.equal(one, two)
        swapped = net(planes[:, [1, 0, 2]])
        assert not torch.equal(swapped[1], net(planes)[1])


def test_only_the_same_net_can_grow():
    with pytest.raises(ZugwerkError, match="cannot grow into another"):
        carry_over(make_net(PLAIN), ResidualConfig(height=9, width=9))
    with pytest.raises(ZugwerkError, match=r"layer trunk\.0.*another shape"):
        carry_over(make_net(PLAIN), PLAIN.model_copy(update={"height": 9, "width": 9, "filters": (6, 7)}))
    with pytest.raises(ZugwerkError, match="cannot grow"):
        carry_over(UniformNet(UniformConfig(height=6, width=6)), PLAIN.model_copy(update={"height": 9, "width": 9}))


def test_multiply_adds_are_those_of_convolutions_and_dense_layers():
    heads, cells = {"policy_planes": 3, "value_planes": 2, "value_hidden": 11}, 42
    config = PlainConfig(height=6, width=7, positions=2, filters=(5, 8), **heads)
    trunk = cells * 9 * (5 * 5 + 5 * 8)
    heads = cells * 8 * (3 + 2) + 3 * cells * cells + 2 * cells * 11 + 11
    assert multiply_adds(make_net(config)) == trunk + heads


PARAMS = GrowingConvergence(span=3, loss_drop=0.02, score_gain=0.05)


def run(losses, scores):
    return [Progress(loss, 20 * score, 20) for loss, score in zip(losses, scores, strict=True)]


def ends_at(history):
    """The number of generations after which a run ends; None for never."""
    return next((n for n in range(1, len(history) + 1) if has_converged(history[:n], PARAMS)), None)


def test_draw_in_the_gate_counts_half_a_point():
    report = {"gate": {"wins": 2, "draws": 3, "losses": 1}, "train": {"loss": 0.5}}
    assert _progress(report) == Progress(0.5, 3.5, 6)


FALLING = [4.0, 3.6, 3.3, 3.0, 2.8, 2.7, 2.65] + [2.64] * 10
WINNING = [0.9, 0.8, 0.7, 0.7, 0.6, 0.65, 0.6] + [0.5, 0.55, 0.45] * 4


@pytest.mark.parametrize(
    ("losses", "scores", "end"),
    [
        ([4 * 0.95**n for n in range(30)], [0.5] * 30, None),  # falling loss, no gate won
        ([3.0] * 30, [0.6] * 30, None),  # gates won, flat loss
        ([3.0] * 30, [0.5] * 30, 6),
        ([3.0 + 0.1 * n for n in range(30)], [0.3] * 30, 6),  # it gets worse
        ([3.0] * 6, [0.5, 0.5, 0.5, 0.45, 0.65, 0.5], 6),  # one lucky gate
        (FALLING, WINNING[:17], 11),  # the three before are the first that a span differs little from
    ],
)
def test_a_run_ends_two_spans_after_the_progress(losses, scores, end):
    assert ends_at(run(losses, scores)) == end


@pytest.mark.parametrize("bad", [{"span": 0}, {"loss_drop": -0.1}, {"loss_drop": 1.5}, {"score_gain": 0.6}])
def test_params_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        GrowingConvergence(**bad)


ONE, TWO = Parallel(workers=1), Parallel(workers=2)
SMALL, LARGE = GrowingBoard(4, None, 2, "freestyle-3"), GrowingBoard(5, 4, 2, "freestyle-3")
NEVER, AT_ONCE = GrowingConvergence(span=9), GrowingConvergence(span=1, loss_drop=1.0, score_gain=0.5)
GENERATION = ("net", "self_play", "train", "gate")


def settings(folder, **changed):
    """Settings of both boards."""
    sections = {f"growing_{name}": {**SECTIONS[f"gomoku_{name}"], **changed.get(name, {})} for name in GENERATION}
    path = folder / "params.yaml"
    path.write_text(yaml12.dump({"seed": 3, **sections}))
    return [setting_for(board.size, board.variant, path) for board in (SMALL, LARGE)]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Both boards, made in one go."""
    folder = tmp_path_factory.mktemp("undisturbed")
    for board, setting in zip((SMALL, LARGE), settings(folder), strict=True):
        assert grow(board, setting, NEVER, ONE, folder / "artifacts", folder / "work")
    assert not list((folder / "work").iterdir())
    return folder / "artifacts"


def test_a_board_leaves_models_games_and_its_computing(undisturbed):
    small, large = (BoardFiles(board.size, undisturbed) for board in (SMALL, LARGE))
    spent = 0
    for files in (small, large):
        report, rows = read_json(files.report), read_table(files.curve, CURVE)
        assert tuple(rows[0]) == CURVE
        assert [int(row["generation"]) for row in rows] == [1, 2]
        assert report["generations"] == 2
        assert report["converged"] == 0
        models = [load_model(files.model(number)) for number in (1, 2)]
        assert {model.config.height for model in models} == {files.size}
        won = [row["generation"] for row in rows if float(row["gate_score"]) > 0.5]
        last = [files.model(int(won[-1]))] if won else list(files.models.glob("00.pt"))
        if last:
            assert files.best.read_bytes() == last[0].read_bytes()
        else:
            assert load_model(files.best).config.kind == "uniform"
        each, total = multiply_adds(models[0].net), 0
        for row, number in zip(rows, (1, 2), strict=True):
            games = read_records(files.games / f"{number:02d}.parquet")
            assert len(games) == int(row["games"]) == 10
            steps = max(1, round(2.0 * int(row["positions"]) / 16))
            total += each * (int(row["evaluations"]) + 3 * 16 * steps)
            assert int(row["multiply_adds"]) == total
            assert int(row["multiply_adds_in_all"]) == spent + total
        spent += total
        assert report["multiply_adds_in_all"] == spent
    first, *rest = read_table(small.curve) + read_table(large.curve)
    assert first["evaluations"] == "0"  # nobody is asked before there is a net
    assert all(int(row["evaluations"]) > 0 for row in rest)


def hidden_layers(path):
    return {name: w for name, w in load_model(path).net.state_dict().items() if name.startswith("trunk.")}


@pytest.mark.parametrize("passed", [1, 2, None])
def test_larger_board_starts_with_hidden_layers_of_best_net(undisturbed, project, passed):
    """The best player is that of either generation, or has no net: then the last one is carried over."""
    shutil.copytree(undisturbed, "artifacts")
    small = BoardFiles(4)
    if passed:
        shutil.copyfile(small.model(passed), small.best)
    else:
        save_model(small.best, UniformNet(UniformConfig(height=4, width=4)), variant="freestyle-3")
    assert not grow(LARGE, settings(project)[1], NEVER, ONE, go_on=lambda: False)
    (start,) = Path("work").rglob("start.pt")
    paths = small.model(passed or 2), start, small.model(3 - (passed or 2))
    best, carried, other = map(hidden_layers, paths)
    assert best
    assert all(torch.equal(best[name], carried[name]) for name in best)
    assert not all(torch.equal(other[name], carried[name]) for name in best)


@pytest.mark.parametrize("parallel", [ONE, pytest.param(TWO, marks=pytest.mark.slow)])
def test_stopped_after_each_generation_it_ends_in_the_same_bytes(undisturbed, project, parallel):
    for board, setting in zip((SMALL, LARGE), settings(project), strict=True):
        asked = iter([True, False])  # for the second generation
        assert not grow(board, setting, NEVER, parallel, go_on=lambda asked=asked: next(asked))
        assert not BoardFiles(board.size).models.exists()
        assert grow(board, setting, NEVER, parallel)
    assert contents("artifacts") == contents(undisturbed)


def test_converged_board_ends_and_others_continue(project):
    setting, _ = settings(project)
    long = dataclasses.replace(SMALL, generations=4)
    grow(long, setting, AT_ONCE, ONE)
    report = read_json(BoardFiles(4).report)
    assert (report["generations"], report["converged"]) == (2, 1)
    assert not BoardFiles(4).model(3).exists()
    grow(long, setting, NEVER, ONE)
    report = read_json(BoardFiles(4).report)
    assert (report["generations"], report["converged"]) == (4, 0)
    assert BoardFiles(4).model(4).exists()


def test_another_net_does_not_grow(undisturbed, project):
    shutil.copytree(undisturbed, "artifacts")
    _, setting = settings(project, net={"plain": {"filters": [9]}})
    with pytest.raises(ZugwerkError, match="another shape than on the smaller board"):
        grow(LARGE, setting, NEVER, ONE)
    assert Path("artifacts/models/growing/5/best.pt").exists()  # what was there is left alone


FIRST = {"size": 6, "generations": 3, "variant": "exact"}


def write_boards(path, larger, first=FIRST):
    path = path / "params.yaml"
    path.write_text(yaml12.dump({"growing_first": first, "growing_larger": larger}))
    return path


def test_boards_in_their_order(tmp_path):
    larger = {"9": {"before": "6", "generations": 4}, "15": {"before": "9", "generations": 5}}
    assert read_boards(write_boards(tmp_path, larger)) == [
        GrowingBoard(6, None, 3, "exact"),
        GrowingBoard(9, 6, 4, "exact"),
        GrowingBoard(15, 9, 5, "exact"),
    ]
    assert read_boards(write_boards(tmp_path, {})) == [GrowingBoard(6, None, 3, "exact")]


@pytest.mark.parametrize(
    ("larger", "complaint"),
    [
        (None, "growing_larger: expected boards by size"),
        (
            {"9": {"before": "7", "generations": 4}},
            '.9: expected a board larger than 6, with before: "6"',
        ),
        ({"5": {"before": "6", "generations": 4}}, "growing_larger.5: expected a board larger than 6"),
        ({"big": {"before": "6", "generations": 4}}, "growing_larger.big: expected a board larger than 6"),
        ({"9": {"before": "6", "generations": 0}}, "growing_larger.9: generations must be at least 1"),
        ({"9": {"before": "6"}}, "growing_larger.9.generations: missing"),
        ({"99": {"before": "6", "generations": 4}}, "growing_larger.99: size must be"),
    ],
)
def test_ungrowable_params_are_refused_by_key(tmp_path, larger, complaint):
    with pytest.raises(ZugwerkError) as error:
        read_boards(write_boards(tmp_path, larger))
    assert complaint in str(error.value)
    assert "params.yaml" in str(error.value)


def test_one_board_is_read_without_the_sections_of_the_others(tmp_path):
    larger = {"9": {"before": "6", "generations": 4}, "15": {"before": "9"}}  # the last one is malformed
    path = write_boards(tmp_path, larger)
    assert read_board(6, path) == GrowingBoard(6, None, 3, "exact")
    assert read_board(9, path) == GrowingBoard(9, 6, 4, "exact")
    with pytest.raises(ZugwerkError, match=r"growing_larger\.15\.generations: missing"):
        read_board(15, path)
    with pytest.raises(ZugwerkError, match=r"no board of size 7; it has: 6, 9, 15"):
        read_board(7, path)
    with pytest.raises(ZugwerkError, match="growing_first: size must be"):
        read_boards(write_boards(tmp_path, {}, {"size": 2, "generations": 1}))


def test_there_are_openings_for_all_pairs():
    def read(count):
        values = {"pairs": 5, "rated_pairs": 6, "openings": {"count": count}}
        return build(GrowingEvaluateParams, values, "growing_evaluate", "params.yaml")

    assert read(6).openings.count == 6
    with pytest.raises(ZugwerkError, match=r"openings\.count must be at least 6: each is played once"):
        read(5)


# The stages of growing boards on 4x4 and 5x5, from fresh weights to the figures.


CYCLE = {f"growing_{name}": SECTIONS[f"gomoku_{name}"] for name in GENERATION}
EVALUATE = {
    "opponent": "mcts:playouts=20",
    "pairs": 2,
    "every": 2,
    "rated_pairs": 1,
    "simulations": 6,
    "openings": {"count": 2, "plies": 2, "area": 0, "judge": "alphabeta:depth=1", "bound": 1000.0},
}


@pytest.fixture
def staged(project):
    tree = {
        "seed": 3,
        "parallel": {"workers": 1},
        "growing_first": {"size": 5, "variant": "freestyle-4", "generations": 1},
        "growing_larger": {"6": {"before": "5", "generations": 2}},
        "growing_convergence": {"span": 2},
        **CYCLE,
        "growing_evaluate": EVALUATE,
    }
    (project / "params.yaml").write_text(yaml12.dump(tree))
    return project


def test_from_fresh_weights_to_the_figures(staged, monkeypatch):
    growth.main("--size", "5")
    growth.main("--size", "6")
    growing_evaluate.main()
    found = read_json("artifacts/reports/growing/evaluate.json")
    boards = [read_json(BoardFiles(size).report) for size in (5, 6)]
    assert (found["sizes"], found["largest"], found["generations"]) == (2, 6, 3)
    assert found["multiply_adds_in_all"] == boards[0]["multiply_adds"] + boards[1]["multiply_adds"]
    assert found["score_vs_mcts1000"]["n"] == 4
    strength = read_table("artifacts/reports/growing/strength.csv")
    assert [(row["generation"], row["n"]) for row in strength] == [("0", "2"), ("2", "2")]
    assert int(strength[0]["multiply_adds"]) == boards[0]["multiply_adds"]
    losses = read_table("artifacts/reports/growing/losses.csv")
    assert [(row["size"], row["generation"]) for row in losses] == [("5", "1"), ("6", "1"), ("6", "2")]
    games = read_records("artifacts/records/growing/matches.parquet")
    assert [game.event for game in games] == ["headline"] * 4 + ["rated"] * 4

    def evaluate():
        growing_evaluate.main()
        return [Path("artifacts/reports/growing", name).read_bytes() for name in ("evaluate.json", "strength.csv")]

    before = evaluate()
    check_kill(monkeypatch, evaluate)
    assert evaluate() == before


def test_at_time_limit_nothing_is_published_and_run_can_resume(staged):
    with pytest.raises(ZugwerkError, match="run the same command again"):
        growth.main("--size", "5", "--minutes", "0")
    assert not BoardFiles(5).models.exists()
    growth.main("--size", "5")
    assert BoardFiles(5).best.exists()
