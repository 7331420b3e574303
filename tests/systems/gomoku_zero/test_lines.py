"""The line net: windows, table and sums against the perceptron and slow references, files, play and training."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.kernels import stack
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.gomoku import line_net
from pipeline_src.search.gomoku.line_net import (
    LARGEST,
    SCALE,
    evaluate_position,
    make_line_net,
    read_table,
    windows,
    write_table,
)
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.search.mcts.gumbel import GumbelTrees
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_trees import PuctTrees
from pipeline_src.systems.gomoku_zero.backends import zero_planes
from pipeline_src.systems.gomoku_zero.evaluator import LineEvaluator, export_table, make_evaluator, prepare_model
from pipeline_src.systems.gomoku_zero.lines import LinesConfig, LinesNet, from_table, tabulate
from pipeline_src.systems.gomoku_zero.models import ZeroModel, load_model, save_model
from tests.systems.gomoku_zero.nets import fresh

ABOUT = {"game": "gomoku", "variant": "freestyle", "version": 1, "kind": "lines", "height": 9, "width": 9}
ABOUT["positions"] = 1


def trained(window=9, size=9, seed=1):
    """A net that prefers some moves, as if it had been trained."""
    net = fresh(LinesConfig(height=size, width=size, window=window), seed)
    with torch.no_grad():
        for layer in (net.policy.weight, net.policy.bias, net.value.weight, net.value.bias):
            layer.copy_(torch.randn(layer.shape, generator=torch.Generator().manual_seed(seed)))
        net.third.weight.mul_(8)
    return net


def random_states(size, games, seed=0, variant="freestyle"):
    rng = np.random.default_rng(seed)
    for _ in range(games):
        state = gomoku.initial_state(size, variant)
        while gomoku.winner(state) is None:
            yield state
            state = gomoku.play(state, int(rng.choice(gomoku.legal_actions(state))))


def asked(net, state):
    """Value and priors of all legal cells by the kernel."""
    steps = gomoku.legal_actions(state)
    priors = np.empty(len(steps), np.float32)
    return evaluate_position(net, state, steps, len(steps), priors), priors


def reference(net, state):
    """The same by the net in torch."""
    with torch.inference_mode():
        logits, value = net(planes_of([state]))
    return float(value), functional.softmax(logits[0, gomoku.legal_actions(state).astype(np.int64)], 0).numpy()


def planes_of(states):
    """Planes float32 [B, 3, H, W] of some positions of one size."""
    found = list(states)
    planes = np.zeros((len(found), 3, *found[0].board.shape), np.float32)
    for row, state in enumerate(found):
        zero_planes(stack(state, 1), 1, planes[row : row + 1])
    return torch.from_numpy(planes)


@pytest.mark.parametrize("length", [9, 11])
def test_windows_are_those_that_a_board_has(length: int) -> None:
    found, half = windows(length), length // 2
    seen = []
    for left in range(half + 1):  # cells off the board at either end
        for right in range(half + 1):
            inside = length - left - right
            numbers = np.arange(0, 3**inside, 1 if inside <= 9 else 101)  # enough of the larger ones
            digits = np.full((len(numbers), length), 3)
            digits[:, left : left + inside] = numbers[:, None] // 3 ** np.arange(inside) % 3
            seen.append(digits)
    seen = np.concatenate(seen)
    codes, mirrored = ((digits << 2 * np.arange(length)).sum(1) for digits in (seen, seen[:, ::-1]))
    rows = found.rows[codes]
    assert (rows >= 0).all()
    if length == 9:
        assert set(codes.tolist()) == set(np.flatnonzero(found.rows >= 0).tolist())
    np.testing.assert_array_equal(found.rows[mirrored], rows)
    kept = found.digits[rows]
    assert ((kept == seen).all(1) | (kept == seen[:, ::-1]).all(1)).all()
    with pytest.raises(ZugwerkError, match="9 or 11 cells, not 7"):
        windows(7)


@pytest.mark.parametrize("length", [9, 11])
def test_the_table_has_the_perceptron_s_features_of_every_window(length: int) -> None:
    net, found = trained(length), windows(length)
    made = tabulate(net)
    codes = np.flatnonzero(found.rows >= 0)
    codes = codes[:: max(1, len(codes) // 50_000)]
    digits = codes[:, None] >> 2 * np.arange(length) & 3
    mirrored = (digits[:, ::-1] << 2 * np.arange(length)).sum(1)
    digits = np.where((codes <= mirrored)[:, None], digits, digits[:, ::-1])  # the perceptron sees one of the two
    with torch.inference_mode():
        x = torch.eye(4)[torch.from_numpy(digits)].flatten(1)
        for layer in (net.first, net.second):
            x = layer(x).relu()
        features = net.third(x).clamp(-LARGEST, LARGEST).numpy()
    assert np.abs(made.table[found.rows[codes]] / SCALE - features).max() <= 0.501 / SCALE
    assert np.abs(features).max() > 1  # weights that say something


@pytest.mark.parametrize(("size", "window"), [(9, 9), (9, 11), (6, 9), (15, 9)])
def test_the_kernel_answers_as_the_net_in_torch_within_rounding(size: int, window: int) -> None:
    net = trained(window, size)
    kernel = make_line_net(tabulate(net), size, size)
    worst = 0.0
    for state in random_states(size, 3):
        value, priors = asked(kernel, state)
        expected, policy = reference(net, state)
        assert abs(value - expected) < 0.02
        np.testing.assert_allclose(priors, policy, atol=0.01)
        worst = max(worst, abs(value))
    assert worst > 0.05


@pytest.mark.parametrize(("window", "size"), [(9, 9), (11, 15)])
def test_empty_boards_have_the_value_of_the_training_s_size(window: int, size: int) -> None:
    net = trained(window, size)
    with torch.no_grad():
        net.value.weight.mul_(0.05)  # not near 1
    made = tabulate(net)
    expected = asked(make_line_net(made, size, size), gomoku.initial_state(size))[0]
    for side in (13, 25):
        there = made._replace(height=side, width=side), gomoku.initial_state(side)
        assert asked(make_line_net(made, side, side), there[1])[0] == pytest.approx(expected, abs=5e-4)
        assert asked(make_line_net(there[0], side, side), there[1])[0] != pytest.approx(expected, abs=2e-3)


def test_the_answer_does_not_depend_on_the_positions_before() -> None:
    made = tabulate(trained())
    kept = make_line_net(made, 9, 9)
    states = list(random_states(9, 4))
    np.random.default_rng(1).shuffle(states)
    for state in states[:60]:
        value, priors = asked(kept, state)
        alone = asked(make_line_net(made, 9, 9), state)
        assert value == alone[0]
        np.testing.assert_array_equal(priors, alone[1])


def test_a_search_in_one_kernel_makes_the_trees_of_rounds() -> None:
    evaluator = LineEvaluator(tabulate(trained()))
    states = [state for state in random_states(9, 2) if len(gomoku.legal_actions(state)) > 30][::7]
    found = []
    for evaluate in (evaluator, lambda *leaves: evaluator(*leaves)):  # the second hides that there is a kernel
        for leaves in (1, 3):
            trees = PuctTrees(states[0], len(states), evaluate, PuctOptions(c=1.0, c_base=0.0), 200, leaves)
            for g, state in enumerate(states):
                trees.plant(g, state)
            trees.simulate(np.arange(20, 20 + len(states), dtype=np.int32))
            found.append(([trees.visits(g).tolist() for g in range(len(states))], trees.forest.done.tolist()))
        chosen = GumbelTrees(trees, 8, 16).search(
            range(len(states)), [np.random.default_rng(g) for g in range(len(states))]
        )
        found.append((chosen.steps.tolist(), chosen.policies.tolist()))
    assert found[:3] == found[3:]


def test_threat_search_runs_with_the_net_in_the_kernel() -> None:
    evaluator = LineEvaluator(tabulate(trained()))
    states = [state for state in random_states(9, 3) if len(gomoku.legal_actions(state)) > 30][::6]
    found = []
    for net in (evaluator, lambda *leaves: evaluator(*leaves)):
        proving = ProvingEvaluator(net, 50, 50)
        trees = PuctTrees(states[0], len(states), proving, PuctOptions(c=1.0, c_base=0.0, solve=True), 200)
        for g, state in enumerate(states):
            trees.plant(g, state)
        trees.simulate(np.full(len(states), 40, np.int32))
        found.append([(trees.visits(g).tolist(), trees.proven(g), trees.value(g)) for g in range(len(states))])
    assert found[0] == found[1]
    assert {proven for _, proven, _ in found[0]} == {True, False}


def test_the_same_net_gives_the_same_file_and_comes_back(tmp_path: Path) -> None:
    made = tabulate(trained())
    for name in ("a.lines", "b.lines"):
        write_table(tmp_path / name, made, ABOUT)
    assert (tmp_path / "a.lines").read_bytes() == (tmp_path / "b.lines").read_bytes()
    again, about = read_table(tmp_path / "a.lines")
    assert about == ABOUT
    assert again.window == 9
    np.testing.assert_array_equal(again.table, made.table)
    for name, weights in made.heads.items():
        np.testing.assert_array_equal(again.heads[name], weights)


def test_truncated_or_foreign_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, made = tmp_path / "net.lines", tabulate(trained())
    write_table(path, made, ABOUT)
    content = path.read_bytes()
    for length in (0, 1, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ZugwerkError, match=r"net\.lines: cut short.*zugwerk export"):
            read_table(path)
    path.write_bytes(content[:2000] + b"\xff" + content[2001:])
    with pytest.raises(ZugwerkError, match=r"net\.lines: cut short, damaged"):
        read_table(path)
    with pytest.raises(ZugwerkError, match="no such line net"):
        read_table(tmp_path / "none.lines")
    write_table(path, made, {**ABOUT, "version": 2})
    with pytest.raises(ZugwerkError, match="gomoku under rules version 2; this is gomoku, version 1"):
        read_table(path)
    said = r"made for a board of .*x9, sides have 3 to 25 cells"
    for height in (2, 26, 10**9, -15, 15.0, None, "15"):
        with pytest.raises(ZugwerkError, match=said):
            write_table(path, made, {**ABOUT, "height": height})
        with monkeypatch.context() as patch:
            patch.setattr(line_net, "make_line_net", lambda *_: None)
            write_table(path, made, {**ABOUT, "height": height})
        with pytest.raises(ZugwerkError, match=rf"net\.lines: {said}"):
            read_table(path)
    monkeypatch.setattr(line_net, "VERSION", 9)
    write_table(path, made, ABOUT)
    monkeypatch.undo()
    with pytest.raises(ZugwerkError, match="of version 9; this program reads version 2"):
        read_table(path)


def test_tables_of_other_windows_or_without_numbers_are_refused(tmp_path: Path) -> None:
    made = tabulate(trained(9))
    with pytest.raises(ZugwerkError, match=r"\(22143, 32\) is not one of windows of 11 cells"):
        make_line_net(made._replace(window=11), 9, 9)
    broken = {**made.heads, "mix": np.full_like(made.heads["mix"], np.nan)}
    with pytest.raises(ZugwerkError, match="layer mix of a line net has 528 finite weights, not 0 of 528"):
        write_table(tmp_path / "net.lines", made._replace(heads=broken), ABOUT)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ZugwerkError, match="layer policy"):
        make_line_net(made._replace(heads={k: v for k, v in made.heads.items() if k != "policy"}), 9, 9)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(tmp_path / "model.pt", trained(), variant="freestyle")
    return tmp_path / "model.pt"


def test_model_and_its_table_play_same_moves_on_any_board(model: Path) -> None:
    table = prepare_model(model, "auto", model.parent)
    assert table.suffix == ".lines"
    assert make_evaluator(table)[1] == make_evaluator(model)[1]
    players = [make_player("gomoku", f"zero:{path},simulations=30") for path in (model, table)]
    for size in (9, 12):
        for state in list(random_states(size, 1))[:40:8]:
            position = Position(state, np.random.default_rng(0), gomoku.initial_state(size), ())
            assert players[0].choose([position]) == players[1].choose([position])


def test_a_table_becomes_the_net_that_it_was_made_of(model: Path) -> None:
    net = trained()
    net.train()(planes_of(random_states(9, 2)))  # the norms see positions
    made, seen = tabulate(net.eval()), planes_of(random_states(9, 1, seed=5))
    begun = from_table(made, net.config)
    save_model(model, begun)
    for again in (begun, load_model(model).net):
        for answer, other in zip(again(seen), net(seen), strict=True):
            torch.testing.assert_close(answer, other, atol=0.05, rtol=0)  # the table is rounded
        np.testing.assert_array_equal(tabulate(again).table, made.table)
        for name, weights in made.heads.items():
            np.testing.assert_allclose(tabulate(again).heads[name], weights, atol=1e-4)
    begun.features(torch.arange(9)).sum().backward()
    assert begun.third.weight.grad.abs().max() > 0  # and it can learn
    with pytest.raises(ZugwerkError, match="for windows of 9 cells, but gomoku_net has 11"):
        from_table(made, LinesConfig(height=9, width=9, window=11))
    older = {name: weights for name, weights in made.heads.items() if name != "norms"}
    with pytest.raises(ZugwerkError, match="not have the means and variances of its training; export its model again"):
        from_table(made._replace(heads=older), net.config)


def test_line_net_runs_in_torch_and_has_no_onnx_form(model: Path) -> None:
    state = list(random_states(9, 1))[10]
    answers = [
        make_evaluator(model, backend)[0](stack(state, 1), gomoku.legal_actions(state)[None], np.array([71], np.int32))
        for backend in ("auto", "torch")
    ]
    for kernel, torch_s in zip(*answers, strict=True):
        np.testing.assert_allclose(kernel, torch_s, atol=0.02)
    make_player("gomoku", f"zero:{model}").check(gomoku.initial_state(12))
    with pytest.raises(ZugwerkError, match="a 12x12 board, but this model plays on 9x9"):
        make_player("gomoku", f"zero:{model},backend=torch").check(gomoku.initial_state(12))
    with pytest.raises(ZugwerkError, match="a line net has no ONNX form"):
        make_evaluator(model, "onnx")
    with pytest.raises(ZugwerkError, match="leave backend=torch out"):
        make_evaluator(prepare_model(model, "auto", model.parent), "torch")


def test_a_net_for_other_rules_is_refused_with_both_named(model: Path) -> None:
    player = make_player("gomoku", f"zero:{model},simulations=4")
    state = gomoku.initial_state(9, "renju")
    with pytest.raises(ZugwerkError, match="variant renju of Gomoku, but this model plays freestyle"):
        player.choose([Position(state, np.random.default_rng(0), state, ())])


def test_export_lists_its_files(model: Path) -> None:
    export_table(ZeroModel(trained(), "freestyle"), model.with_name("x.lines"))
    made, about = read_table(model.with_name("x.lines"))
    assert json.dumps(about) == json.dumps({**ABOUT, "positions": 1}) or about == ABOUT
    np.testing.assert_array_equal(made.table, tabulate(trained()).table)


def test_value_learns_together_with_policy() -> None:
    """Sharp policies make the pooled features large; without normalising them the value's units fall silent."""
    torch.manual_seed(1)
    net, rng = LinesNet(LinesConfig(height=9, width=9)), np.random.default_rng(1)
    states = list(random_states(9, 100, seed=3))
    planes = planes_of(states).numpy()
    pairs = planes[:, :2, :, 1:] * planes[:, :2, :, :-1]  # two adjacent stones of one side
    more = np.sign(pairs.sum((2, 3)) @ [1.0, -1.0])
    crowd = functional.conv2d(torch.from_numpy(planes[:, :2]).sum(1, keepdim=True), torch.ones(1, 1, 3, 3), padding=1)
    crowd[:, 0][torch.from_numpy(planes[:, :2].sum(1) > 0)] = -1
    best, batch, value = crowd.flatten(1).argmax(1), torch.from_numpy(planes), torch.from_numpy(more).float()
    optimizer, losses = torch.optim.AdamW(net.parameters(), lr=6e-3), []
    for _ in range(300):
        some = torch.from_numpy(rng.choice(len(states), 64))
        logits, values = net(batch[some])
        error = (values - value[some]).square().mean()
        loss = functional.cross_entropy(logits, best[some]) + error
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(error.detach()))
    assert np.mean(losses[-20:]) < 0.7 * float(value.square().mean())
