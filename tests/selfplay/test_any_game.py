"""The learner for any game: its net's kernel against torch and plain Python, and runs that are resumed or refused."""

import os
import re
import signal
import subprocess
import sys
import time
from itertools import product

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from pipeline_src.arena.runner import Board, play_match
from pipeline_src.cli.app import app
from pipeline_src.errors import INTERRUPTED, ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.game import LEARNABLE, load_game
from pipeline_src.games.kernels import row
from pipeline_src.learning.torch_state import save_torch
from pipeline_src.parallel import Parallel
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.grid_net import (
    GridEvaluator,
    Shape,
    plan_of,
    read_grid_net,
    row_inputs,
    shape_of,
    symmetric_maps,
    weights_of,
    write_grid_net,
    write_keys,
)
from pipeline_src.selfplay.any_game import learn as learning
from pipeline_src.selfplay.any_game.learn import FIRST, MCTS, learn, verdict
from pipeline_src.selfplay.any_game.net import Batches, GridModel, carried_over, weights_in
from pipeline_src.selfplay.any_game.subject import AnyGame, setting_of
from pipeline_src.selfplay.window import make_games
from tests.layout.imports import ROOT

LINES = ((0, 1), (1, 0), (1, 1), (1, -1))
GAME, RULES = "connect_four", "0" * 16
ALONE = Parallel(workers=1)


def random_games(game, count, seed):
    """A window of random games, each with all steps as likely."""
    start, rng = game.initial_state(), np.random.default_rng(seed)
    steps, winners, policies = [], [], []
    room = np.empty(int(kernels.max_steps(start)), np.int32)
    for _ in range(count):
        state, played = game.initial_state(), []
        policies.append([])
        while not kernels.outcome(state)[0]:
            legal = room[: kernels.write_steps(state, room)]
            policies[-1].append(
                np.eye(1, len(room), dtype=np.float32)[0] * 0 + (np.arange(len(room)) < len(legal)) / len(legal)
            )
            played.append(int(rng.choice(legal)))
            kernels.play_step(state, played[-1])
        steps.append(played)
        winners.append({"first": 1, "second": -1, "draw": 0}[game.winner(state)])
    size = game.SIZES[0]
    return make_games(start, game.VARIANTS[0], steps, winners, policies, generation=1, size=size)


@pytest.mark.parametrize(
    "shape",
    [
        Shape(6, 7, (0, 1), (0, 1), LINES),
        Shape(3, 5, (0, 1, -1), (0, 3), ((0, 1), (1, 0), (1, -1))),
        Shape(4, 4, (0, 1, 0, 1), tuple(range(8)), ((1, 2),)),
    ],
)
def test_keys_are_the_windows_of_all_lines(shape):
    rng, reach = np.random.default_rng(1), shape.reach
    inputs, keys = row_inputs(shape), np.empty(shape.cells * len(shape.lines), np.int32)
    for side in (0, 1) * 10:
        symbols = np.append(rng.integers(1, shape.kinds + 1, shape.cells), 0).astype(np.uint8)
        write_keys(plan_of(shape), side, symbols, keys)
        board = np.pad(symbols[:-1].reshape(shape.height, shape.width), 2 * reach)
        for cell, (d, (down, right)) in product(range(shape.cells), enumerate(shape.lines)):
            y, x = cell // shape.width + 2 * reach, cell % shape.width + 2 * reach
            seen = [int(board[y + k * down, x + k * right]) for k in range(-reach, reach + 1)]
            table, to_move = np.eye(max(shape.classes) + 1)[shape.classes[d]], np.eye(2)[side]
            expected = np.concatenate([np.eye(shape.kinds + 1)[seen].ravel(), table, to_move])
            np.testing.assert_array_equal(inputs[keys[cell * len(shape.lines) + d]], expected)


def test_directions_that_a_symmetry_exchanges_have_one_table():
    shape = Shape(8, 8, (0, 1), tuple(range(8)), LINES)
    assert shape.classes == (0, 0, 1, 1)
    assert shape._replace(symmetries=(0, 1)).classes == (0, 1, 2, 2)
    assert shape._replace(symmetries=(0, 3)).classes == (0, 1, 2, 3)
    assert sorted(map(tuple, symmetric_maps(shape)))[0] == tuple(range(64))
    assert len({*map(tuple, symmetric_maps(shape).tolist())}) == 8


@pytest.mark.parametrize("name", LEARNABLE)
def test_kernel_equals_torch(name):
    game = load_game(name)
    setting = setting_of(game, None, None, 1)
    shape = AnyGame(name).shape(setting)
    torch.manual_seed(1)
    net = GridModel(shape)
    for weights in net.parameters():
        weights.data += 0.1 * torch.randn(weights.shape)
    batches = Batches(random_games(game, 4, 1), game, shape, setting.train, seed=1, count=1)
    rows = np.arange(len(batches.generation))
    batch = batches.cut(rows, np.zeros(len(rows), np.int64))
    net.train()
    with torch.no_grad():
        for _ in range(60):
            net(batch)  # the running means of the normalisations
        answer = batches.answer(net.eval(), batch)
    steps = np.zeros((len(rows), int(kernels.max_steps(game.initial_state()))), np.int32)
    counts = np.array([kernels.write_steps(row(batches._states, b), steps[b]) for b in rows], np.int32)
    priors, values = GridEvaluator(shape, weights_in(net))(batches._states, steps, counts)
    np.testing.assert_allclose(values, answer.value.clamp(-0.995, 0.995), atol=0.02)
    np.testing.assert_allclose(priors[:, : counts.max()], answer.log_p.exp().where(batch.legal, 0.0), atol=0.02)


def test_symmetries_move_steps_and_windows_of_a_batch():
    game = load_game(GAME)
    setting = setting_of(game, None, None, 1)
    shape = AnyGame(GAME).shape(setting)
    batches = Batches(random_games(game, 2, 2), game, shape, setting.train, seed=1, count=1)
    rows = np.arange(len(batches.generation))
    plain, mirrored = (batches.cut(rows, np.full(len(rows), which)) for which in (0, 1))
    maps = torch.from_numpy(symmetric_maps(shape)[1]).long()
    assert torch.equal(maps[plain.target.clamp(min=0)][plain.legal], mirrored.target[mirrored.legal])
    vertical = [batch.rows[batch.places].view(len(rows), shape.cells, 4)[:, :, 1] for batch in (plain, mirrored)]
    assert torch.equal(vertical[0], vertical[1][:, maps])


def test_values_have_a_share_of_the_margin():
    game = load_game("othello")
    games, setting = random_games(game, 3, 3), setting_of(game, None, None, 1, margin=0.25)
    values, at = AnyGame("othello").batches(games, setting, 1).value.numpy(), 0
    for start, end in zip(games.offsets[:-1], games.offsets[1:], strict=True):
        state, sides = game.initial_state(), []
        for step in games.actions[start:end]:
            sides.append(game.to_play(state))
            state = game.play(state, int(step))
        lead = int((state.board == 1).sum()) - int((state.board == 2).sum())
        expected = (0.75 * np.sign(lead) + 0.25 * lead / 64) * (1 - 2 * np.array(sides))
        np.testing.assert_allclose(values[at : at + len(sides)], expected, rtol=1e-6)
        at += len(sides)
    with pytest.raises(ZugwerkError, match=r"connect_four.*margin"):
        setting_of(load_game(GAME), None, None, 1, margin=0.25)


@pytest.fixture
def one_pair(monkeypatch):
    """Matches of one pair."""
    monkeypatch.setattr(learning, "PAIRS", 1)


def small(seed=0, game=None, **options):
    """A setting of little work."""
    return setting_of(game or load_game(GAME), None, None, seed, **{"games": 4, "simulations": 2, **options})


def run(folder, rounds, workers=1, setting=None):
    """Learn Connect Four; the bytes of the net, and what was said."""
    said = list[str]()
    folder.mkdir(exist_ok=True)
    net = learn(GAME, folder, 1e6, setting or small(), Parallel(workers=workers), said.append, rounds)
    return net.read_bytes(), said


@pytest.mark.usefixtures("one_pair")
def test_resumed_runs_give_the_same_bytes_with_any_workers(tmp_path):
    whole, said = run(tmp_path / "whole", 2)
    assert FIRST in said[-3]
    run(tmp_path / "parts", 1)
    parts, said = run(tmp_path / "parts", 2, workers=2)
    assert parts == whole
    assert "going on after round 1" in said[0]
    assert run(tmp_path / "parts", 2)[0] == whole  # nothing is left to do

    other = small()
    other = other.model_copy(update={"game": other.game.model_copy(update={"rules": RULES})})
    for setting, words in ((other, "the rules"), (small(seed=1), "the options")):
        with pytest.raises(ZugwerkError, match=f"{tmp_path / 'parts'}.*{words}"):
            run(tmp_path / "parts", 3, setting=setting)
    (tmp_path / "parts" / "progress.json").write_text('{"rounds": 3}')
    with pytest.raises(ZugwerkError, match=r"progress\.json: damaged"):
        run(tmp_path / "parts", 3)

    player = make_player(GAME, f"net:{tmp_path / 'whole' / 'net'},simulations=8")
    player.check(load_game(GAME).initial_state())


def test_core_seconds_have_those_of_living_and_ended_workers():
    busy = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"
    before = learning._core_s()
    worker = subprocess.Popen([sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    worker.stdout.readline()
    assert learning._core_s() - before > 0.4
    worker.communicate(b"\n")
    assert learning._core_s() - before > 0.4


def test_cells_of_a_larger_board_are_as_far_from_edges(tmp_path):
    def carry(net, shape):
        save_torch(tmp_path / "model.pt", net.state_dict())
        return carried_over(tmp_path / "model.pt", net.shape, shape)

    net, shape = GridModel(Shape(6, 7, (0, 1), (0, 1), LINES)), Shape(9, 12, (0, 1), (0, 1), LINES)
    net.cell.data.copy_(torch.arange(42.0)[:, None].expand(2, 42, -1))
    net.bias.data.copy_(torch.arange(42.0))
    net.placed.data.copy_(torch.arange(11.0 * 13))
    larger = carry(net, shape)
    rows, columns = [0, 1, 2, 2, 2, 3, 3, 4, 5], [0, 1, 2, 3, 3, 3, 3, 3, 3, 4, 5, 6]
    expected = torch.tensor([[7.0 * y + x for x in columns] for y in rows])
    assert torch.equal(larger.bias.view(9, 12), expected)
    assert torch.equal(larger.cell[1, :, 5].view(9, 12), expected)
    assert larger.placed.view(17, 23)[8, 11] == net.placed.view(11, 13)[5, 6]  # the same cell
    assert larger.placed.view(17, 23)[8 - 2, 11 + 3] == net.placed.view(11, 13)[5 - 2, 6 + 3]
    assert larger.placed.view(17, 23)[0, 22] == net.placed.view(11, 13)[0, 12]  # farther than there was room
    again = carry(larger, net.shape)
    assert all(torch.equal(*both) for both in zip(again.state_dict().values(), net.state_dict().values(), strict=True))


@pytest.mark.usefixtures("one_pair")
def test_learning_begins_with_a_net_of_another_board(tmp_path):
    def begin(folder, text, size, start=None, rounds=1):
        (tmp_path / folder).mkdir(exist_ok=True)
        begun = tmp_path / start if start else None
        setting = small(game=load_game(text))
        setting = setting.model_copy(update={"game": setting.game.model_copy(update={"size": size})})
        return learn(text, tmp_path / folder, 1e6, setting, ALONE, [].append, rounds, begun).read_bytes()

    with pytest.raises(ZugwerkError, match=f"{tmp_path / 'six'}.*zugwerk learn"):
        begin("eight", "breakthrough", 8, "six")
    begin("six", "breakthrough", 6)
    eight = begin("eight", "breakthrough", 8, "six")
    assert eight != begin("fresh", "breakthrough", 8)
    assert begin("eight", "breakthrough", 8, "six") == eight
    begin("six", "breakthrough", 6, rounds=2)
    with pytest.raises(ZugwerkError, match="the net to begin with"):
        begin("eight", "breakthrough", 8, "six", rounds=2)
    with pytest.raises(ZugwerkError, match=r"round_002/model\.pt.*lines"):
        begin("other", "hex", 7, "six")


def test_games_of_the_graph_do_not_learn_here():
    with pytest.raises(ZugwerkError, match=r"amazons.*hex"):
        setting_of(load_game("amazons"), None, None, 0)


@pytest.fixture
def ctrl_c():
    """Lightning ignores a second Ctrl-C of the process that it ends."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("one_pair", "ctrl_c")
def test_ctrl_c_in_a_training_leaves_the_net(tmp_path, monkeypatch):
    def command(folder):
        words = f"learn {GAME} --variant standard --games 4 --simulations 2 --rounds 2 --workers 1 --out"
        return CliRunner().invoke(app, [*words.split(), str(tmp_path / folder)])

    def interrupt(batches, rows, which):
        if batches.key[-1] == 2 and steps:
            signal.raise_signal(signal.SIGINT)
        steps.append(1)
        return cut(batches, rows, which)

    assert command("whole").exit_code == 0
    steps, cut = list[int](), Batches.cut
    monkeypatch.setattr(Batches, "cut", interrupt)
    stopped = command("parts")
    assert stopped.exit_code == INTERRUPTED
    assert str(tmp_path / "parts" / "net") in stopped.stderr
    make_player(GAME, f"net:{tmp_path / 'parts' / 'net'}").check(load_game(GAME).initial_state())
    monkeypatch.setattr(Batches, "cut", cut)
    assert command("parts").stdout.endswith(
        f"zugwerk play {GAME} --against {tmp_path / 'parts' / 'net'} --variant standard\n"
    )
    assert (tmp_path / "parts" / "net").read_bytes() == (tmp_path / "whole" / "net").read_bytes()


def write_random_net(path, game, rules, size=None):
    """Write a net of random weights for a board of a game, by default its first one."""
    rng, shape = np.random.default_rng(1), shape_of(game, game.initial_state(size or game.SIZES[0]))
    weights = {name: rng.normal(0, 0.1, count).astype(np.float32) for name, count in weights_of(shape).items()}
    write_grid_net(path, shape, weights, game.NAME, rules, "standard")


@pytest.fixture
def net_file(tmp_path):
    """A net of random weights."""
    write_random_net(tmp_path / "net", load_game(GAME), RULES)
    return tmp_path / "net"


def test_a_net_places_both_stones_of_a_turn(tmp_path):
    game, rng = load_game("connect6"), np.random.default_rng(1)
    start = game.initial_state()
    write_random_net(tmp_path / "net", game, game.DIGEST)
    player, state, played = make_player(game.NAME, f"net:{tmp_path / 'net'},simulations=30"), start, ()
    for _ in range(3):  # one stone of the first side, then two
        (thought,) = player.consider([Position(state, rng, start, played)])
        assert thought.found.pv[0] == thought.action
        line = state
        for action in thought.found.pv:
            assert game.is_legal(line, action)
            line = game.play(line, action)
        state, played = game.play(state, thought.action), (*played, thought.action)
    assert [(state.board == code).sum() for code in (1, 2)] == [1, 2]


def test_a_net_is_played_on_its_own_board(tmp_path):
    game = load_game("othello")
    write_random_net(tmp_path / "net", game, game.DIGEST, size=6)
    played = CliRunner().invoke(app, ["play", "othello", "--against", str(tmp_path / "net")], input="quit\n")
    assert "a  b  c  d  e  f\n 6  ." in played.stdout
    other = CliRunner().invoke(app, ["play", "othello", "--against", str(tmp_path / "net"), "--size", "8"])
    assert str(other.exception) == "a net for 6x6 does not play on 8x8"


def test_a_net_file_is_read_as_it_was_written(net_file):
    net, variant = read_grid_net(net_file, GAME, RULES)
    assert variant == "standard"
    assert net.shape == shape_of(load_game(GAME), load_game(GAME).initial_state())
    again = net_file.with_name("again")
    write_grid_net(again, net.shape, net.weights, GAME, RULES, "standard")
    assert again.read_bytes() == net_file.read_bytes()


def test_nets_of_other_rules_and_damaged_ones_are_named(net_file):
    with pytest.raises(ZugwerkError, match=f"{net_file}.*{RULES}.*{'1' * 16}"):
        read_grid_net(net_file, GAME, "1" * 16)
    with pytest.raises(ZugwerkError, match=f"{net_file}.*{GAME}"):
        read_grid_net(net_file, "othello", RULES)
    player = make_player_of(net_file)
    with pytest.raises(ZugwerkError, match=str(net_file)):
        player.check(load_game(GAME).initial_state())
    content = net_file.read_bytes()
    for damaged in (content[:-100], content[: len(content) // 2] + b"!" + content[len(content) // 2 + 1 :], b""):
        net_file.write_bytes(damaged)
        with pytest.raises(ZugwerkError, match=f"{net_file}.*zugwerk learn"):
            read_grid_net(net_file, GAME, RULES)


def make_player_of(net_file):
    """The player of a net, whose kernels are not needed."""
    from pipeline_src.players.any_game import NetOptions, NetPlayer

    return NetPlayer(NetOptions(model=str(net_file)))


def test_a_missing_net_is_named(tmp_path):
    with pytest.raises(ZugwerkError, match=f"{tmp_path / 'none'}.*zugwerk learn"):
        make_player(GAME, f"net:{tmp_path / 'none'}")


GOOD = {
    "round": 9,
    "core_s": 5.0,
    "plies": 30.0,
    "draws": 0.1,
    "spread": 0.9,
    "different": 1.0,
    "choices": 2.0,
    "policy_loss": 1.2,
    "value_loss": 0.5,
    "target_entropy": 0.6,
    FIRST: 0.9,
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "^learning"),
        ({"draws": 0.99}, "drawn"),
        ({"value_loss": 0.9}, "constant"),
        ({"target_entropy": 1.99}, "no step better"),
        ({"different": 0.1}, "games differ"),
        ({"core_s": 500.0}, "a round took"),
        ({FIRST: 0.5}, "does not beat its first net"),
        ({FIRST: 0.5, MCTS: 1.0}, "^learning.*100% of the points against MCTS"),  # it began with a good one
    ],
)
def test_verdict_names_what_is_wrong(change, words):
    assert re.search(words, verdict([GOOD | change]))


@pytest.mark.usefixtures("one_pair")
def test_verdict_is_said_early_once_and_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "VERDICT_S", 0)
    told = [sum("learning" in line for line in run(tmp_path, rounds)[1]) for rounds in (3, 4)]
    assert told == [2, 1]


def test_learn_has_an_example_and_names_the_games():
    assert "zugwerk learn connect_four" in CliRunner().invoke(app, ["learn", "--help"]).stdout
    with pytest.raises(ZugwerkError, match=r"othelo.*connect_four"):
        CliRunner().invoke(app, ["learn", "othelo"], catch_exceptions=False)


@pytest.mark.slow
def test_ctrl_c_while_a_file_is_learnt_changes_no_byte(tmp_path):
    """In another folder than the package's, by a relative path, as a stranger would do it."""
    rules = (ROOT / "pipeline_src" / "games" / "learnable" / "connect_four.py").read_text()
    (tmp_path / "my_game.py").write_text(rules.replace("length >= 4", "length >= 3"))
    words = ["learn", "./my_game.py", "--games", "20", "--simulations", "4", "--rounds", "2", "--workers", "2"]
    program = [sys.executable, "-c", "from pipeline_src.cli import main; main()", *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([*program, "--out", "whole"], cwd=tmp_path, env=env, check=True)
    begun = subprocess.Popen(program, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)
    training = tmp_path / "my_game" / "work" / "round_002" / "training"
    while not training.exists() and begun.poll() is None:
        time.sleep(0.01)
    begun.send_signal(signal.SIGINT)
    assert "same command goes on" in begun.communicate()[1]
    assert begun.returncode == INTERRUPTED
    assert (tmp_path / "my_game" / "net").is_file()
    subprocess.run(program, cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "my_game" / "net").read_bytes() == (tmp_path / "whole" / "net").read_bytes()


@pytest.mark.slow
def test_six_rounds_of_connect_four_beat_random_and_first_net(tmp_path):
    game = load_game(GAME)
    setting = setting_of(game, None, None, 0, games=100, simulations=32)
    net = learn(GAME, tmp_path, 1e6, setting, ALONE, print, rounds=6)
    board, player = Board(GAME, game.SIZES[0]), f"net:{net},simulations=32"
    assert play_match(board, player, "random", 20, 2, [1], ALONE).score.low > 0.8
    first = f"net:{tmp_path / 'work' / 'first'},simulations=32"
    assert play_match(board, player, first, 20, 4, [2], ALONE).score.low > 0.5
