"""Self-play of the Amazons: games, batches for training, and whole generations."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.games import amazons, kernels
from pipeline_src.games.amazons import initial_state, play
from pipeline_src.games.kernels import row
from pipeline_src.games.rules import copy_state, winner
from pipeline_src.learning.symmetry import square_maps
from pipeline_src.parallel import Parallel
from pipeline_src.records.record import read_records
from pipeline_src.search.amazons.endgame import endgame_scratch, settle_amazons
from pipeline_src.search.amazons.evaluation import distances
from pipeline_src.search.amazons.rays import RayEvaluator
from pipeline_src.selfplay import generation
from pipeline_src.selfplay.generation import run_generation
from pipeline_src.selfplay.params import SelfPlayParams
from pipeline_src.selfplay.play import play_self
from pipeline_src.selfplay.window import open_window, replay
from pipeline_src.systems.amazons_net.nets import load_nets, save_nets
from pipeline_src.systems.amazons_net.params import AmazonsZeroGame, AmazonsZeroTrain, ZeroFiles, read_zero_setting
from pipeline_src.systems.amazons_net.rays import RaysConfig, RaysNet, tabulate
from pipeline_src.systems.amazons_net.zero import Amazons
from pipeline_src.systems.amazons_net.zero_train import Batches
from tests.run_stage import split_at_random
from tests.systems.gomoku_zero.test_generation import contents

SECTIONS = {
    "seed": 3,
    "parallel": {"workers": 1},
    "amazons_zero_game": {"boards": {"1": 6, "2": 8}},
    "amazons_zero_net": {"units": 8},
    "amazons_zero_self_play": {
        "games": 4,
        "rounds": 2,
        "search": "gumbel",
        "simulations": 6,
        "simulations_from": {"2": 24},
        "considered": 4,
        "c_scale": 0.1,
        "rescale": True,
        "noise_steps": 20,
        "opening_plies": 2,
    },
    "amazons_zero_train": {
        "window": 400,
        "passes": 0.5,
        "owners": 0.5,
        "batch": 16,
        "augment": True,
        "optimizer": "adamw",
        "learning_rate": 0.01,
        "precision": "32-true",
        "checkpoint_steps": 5,
        "log_steps": 3,
    },
    "amazons_zero_gate": {"games": 2, "simulations": 4, "opening_plies": 1, "always": True},
    "amazons_generations": {"02": {"before": "01"}},
}
ONE, TWO = Parallel(workers=1), Parallel(workers=2)


def setting_in(folder):
    (folder / "params.yaml").write_text(yaml12.dump(SECTIONS))
    return read_zero_setting(folder / "params.yaml")


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """Two generations, the second on a larger board."""
    folder = tmp_path_factory.mktemp("grown")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for number in (1, 2):
            assert run_generation(Amazons(), number, setting_in(folder), ONE, Path("artifacts"))
    finally:
        os.chdir(before)
    return folder / "artifacts"


def test_games_are_legal_and_end_when_counted(grown):
    scratch = endgame_scratch(4)
    for number, size in ((1, 6), (2, 8)):
        records = read_records(ZeroFiles(number, grown).games)
        assert len(records) == 4
        for record in records:
            assert (record.game, record.height) == ("amazons", size)
            state = initial_state(size)
            for action in record.actions:
                assert winner(state) is None
                state = play(state, action)
            decided, margin = settle_amazons(state, scratch)
            mover = ("first", "second")[int(state.turn[0])]
            assert decided or winner(state) is not None
            assert (record.winner == mover) == (margin > 0 if decided else False)


def test_a_generation_leaves_a_window_models_and_a_report(grown):
    for number, size in ((1, 6), (2, 8)):
        files = ZeroFiles(number, grown)
        window, report = open_window(files.window, amazons), read_json(files.report)
        assert set(window.generation) == {2 * number - 1, 2 * number}  # no other board's games
        assert report["train"]["new_positions"] == report["self_play"]["positions"] == len(window.policy)
        assert load_nets(files.model).config == RaysConfig(size, 8, owners=True)
        assert files.best.read_bytes() == files.model.read_bytes()
    assert report["self_play"]["evaluations"] > 2 * 6 * report["self_play"]["positions"]  # the second's 24 simulations


@pytest.mark.parametrize("parallel", [ONE, pytest.param(TWO, marks=pytest.mark.slow)])
def test_workers_units_and_stops_change_no_byte(grown, tmp_path, monkeypatch, parallel):
    monkeypatch.chdir(tmp_path)
    setting, calls, whole = setting_in(tmp_path), [], generation.learn
    split_at_random(monkeypatch)
    run_generation(Amazons(), 1, setting, parallel, Path("artifacts"))

    def torn(work):
        whole(work)
        calls.append(work.index)
        if calls == [0]:
            raise KeyboardInterrupt

    monkeypatch.setattr(generation, "learn", torn)
    with pytest.raises(KeyboardInterrupt):
        run_generation(Amazons(), 2, setting, ONE, Path("artifacts"))
    run_generation(Amazons(), 2, setting, ONE, Path("artifacts"))
    assert calls == [0, 0, 1]
    assert contents("artifacts") == contents(grown)


@pytest.mark.parametrize("damaged", ["window", "model"])
def test_a_damaged_generation_before_is_named(grown, tmp_path, monkeypatch, damaged):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "artifacts").symlink_to(grown)
    path = getattr(ZeroFiles(1), damaged)
    path = path / "policy.npy" if damaged == "window" else path
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    try:
        with pytest.raises(ZugwerkError, match=path.name):
            run_generation(Amazons(), 2, setting_in(tmp_path), ONE, tmp_path / "artifacts")
    finally:
        path.write_bytes(whole)


@pytest.fixture(scope="module")
def games(grown):
    return open_window(ZeroFiles(2, grown).window, amazons)


def batches_of(games, **changed):
    return Batches(games, AmazonsZeroTrain(**{**SECTIONS["amazons_zero_train"], **changed}), seed=1, count=4)


def test_a_batch_is_the_positions_under_their_symmetries(games):
    """Kinds, and the places of all legal steps, against a slow play-through of the rules."""
    found, batches = replay(games, amazons), batches_of(games)
    rows, maps = np.arange(0, len(found.value), 7), square_maps(8)
    which = np.arange(len(rows)) % 8
    batch = batches.cut(rows, which)
    order = np.argsort(found.states.turn[rows, 1] >= 0, kind="stable")
    assert batch.moves == (found.states.turn[rows, 1] < 0).sum()
    for b, at in enumerate(order):
        state, to = row(found.states, rows[at]), maps[which[at]].astype(int)
        own = (amazons.WHITE, amazons.BLACK)[state.turn[0]]
        kinds = batch.kinds[b, 0].flip(0).flatten()
        for square, code in enumerate(state.board.ravel()):
            shoots = square == state.turn[1]
            expected = {amazons.EMPTY: 0, amazons.ARROW: 4, own: 3 if shoots else 1}.get(int(code), 2)
            assert kinds[to[square]] == expected
        steps = np.empty(kernels.max_steps(state), np.int32)
        steps = steps[: kernels.write_steps(state, steps)]
        assert batch.legal[b].sum() == len(steps)
        if b < batch.moves:
            mine = sorted(to[s] for s in state.amazons[state.turn[0]])
            places = [64 * mine.index(to[step // 64]) + to[step % 64] for step in steps]
        else:
            places = [to[step] for step in steps]
        assert batch.places[b, : len(steps)].tolist() == places
        np.testing.assert_allclose(batch.policy[b, : len(steps)], found.policy[rows[at], : len(steps)])
        assert batch.value[b] == found.value[rows[at]]


def test_owners_are_who_alone_comes_to_a_square(games):
    """In late positions of all games, by queues; for the second side they change their sign."""
    batches, found, sides = batches_of(games), replay(games, amazons), [0, 0]
    ends = np.cumsum(games.searched)
    for g, (first, last) in enumerate(zip(games.offsets[:-1], games.offsets[1:], strict=True)):
        state, owners = initial_state(8), np.zeros(64)
        for step in games.actions[first:last]:
            kernels.play_step(state, int(step))
        for side, sign in ((0, 1), (1, -1)):
            owners += sign * np.isfinite(distances(state, side, far=False)).ravel()
            owners[state.amazons[side]] = sign
        assert len({*owners}) == 3
        for at in (int(ends[g]) - 1, int(ends[g]) - 3):
            mover = int(found.states.turn[at, 0])
            sides[mover] += 1
            batch = batches.cut(np.array([at]), np.zeros(1, np.int64))
            np.testing.assert_array_equal(batch.owners[0], -owners if mover else owners)
    assert all(sides)


def test_owners_are_learnt_together_with_policy_and_value(games):
    """Head and features have gradients, and without the param there is no such loss."""
    net, rows = RaysNet(RaysConfig(8, 8, owners=True)), np.arange(0, 40)
    for weight in (0.5, 2.0):
        batches = batches_of(games, owners=weight)
        answer = batches.answer(net, batches.cut(rows, np.zeros_like(rows)))
        assert answer.further.shape == (40,)
        assert 0 < float(answer.further.detach().max()) <= 4 * weight
    answer.further.mean().backward()
    assert net.owner.weight.grad.abs().max() > 0
    assert net.own.grad.abs().max() > 0
    batches = batches_of(games, owners=0.0)
    assert batches.answer(net, batches.cut(rows, np.zeros_like(rows))).further is None


@pytest.mark.parametrize(("before", "words"), [(False, "without"), (True, "with")])
def test_a_generation_with_another_head_before_it_is_refused(tmp_path, before, words):
    setting = setting_in(tmp_path)
    setting.train.__dict__["owners"] = 0.0 if before else 0.5
    save_nets(tmp_path / "model.pt", RaysNet(RaysConfig(6, 8, owners=before)))
    with pytest.raises(ZugwerkError, match=rf"model.pt: trained {words} amazons_zero_train.owners"):
        Amazons().net(tmp_path / "model.pt", setting, 2)


def test_the_trained_net_answers_as_its_table_plays(games):
    torch.manual_seed(2)
    net = RaysNet(RaysConfig(8, 8)).eval()
    with torch.no_grad():
        for weights in net.parameters():
            weights.add_(0.1 * torch.randn_like(weights))
    batches, found = batches_of(games, augment=False), replay(games, amazons)
    rows = np.arange(0, len(found.value), 11)
    with torch.no_grad():
        answer = batches.answer(net, batches.cut(rows, np.zeros_like(rows)))
    evaluator = RayEvaluator(tabulate(net))
    for b, at in enumerate(np.argsort(found.states.turn[rows, 1] >= 0, kind="stable")):
        states = type(found.states)(*(array[rows[at] : rows[at] + 1] for array in found.states))
        steps = np.empty((1, kernels.max_steps(row(states, 0))), np.int32)
        count = kernels.write_steps(row(states, 0), steps[0])
        priors, values = evaluator(states, steps, np.array([count], np.int32))
        np.testing.assert_allclose(answer.log_p[b, :count].exp(), priors[0, :count], atol=2e-3)
        np.testing.assert_allclose(answer.value[b], values[0], atol=5e-3)


def test_openings_are_whole_turns_and_late_steps_without_noise_repeat(tmp_path):
    """With no noise but in the opening, two games from one opening are one."""
    setting, subject = setting_in(tmp_path), Amazons()
    params = setting.self_play.model_copy(update={"noise_steps": 1, "opening_plies": 3})
    _, evaluate = subject.open(None, setting)
    games = play_self(subject, initial_state(6), evaluate, params, [[5, seed] for seed in range(12)])
    assert {game.opening for game in games} <= {0, 2, 4, 6}
    assert max(game.opening for game in games) > 0
    for game in games:
        state = initial_state(6)
        for step in game.steps:
            before = copy_state(state)
            assert subject.result(before) is None
            kernels.play_step(state, step)
        assert subject.result(state) in (1, -1)


def test_workers_of_self_play_start_without_torch():
    program = (
        "import sys; import pipeline_src.selfplay.play, pipeline_src.systems.amazons_net.zero; "
        "import pipeline_src.systems.gomoku_zero.self_play; sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_boards_by_generation_begin_with_the_first():
    boards = AmazonsZeroGame(boards={"1": 6, "3": 8, "12": 10})
    assert [boards.size_of(n) for n in (1, 2, 3, 11, 12, 40)] == [6, 6, 8, 8, 10, 10]
    for wrong in ({}, {"2": 6}, {"1": 6, "03": 8}, {"1": 6, "x": 8}):
        with pytest.raises(ValueError, match="boards"):
            AmazonsZeroGame(boards=wrong)


def test_simulations_by_generation_begin_with_those_of_all():
    params = SelfPlayParams(simulations=96, simulations_from={"17": 224, "20": 300})
    assert [params.at(n).simulations for n in (1, 16, 17, 19, 20, 40)] == [96, 96, 224, 224, 300, 300]
    assert SelfPlayParams(simulations=96).at(17).simulations == 96
    for wrong in ("0", "017", "late"):
        with pytest.raises(ValueError, match="simulations_from: "):
            SelfPlayParams(simulations_from={wrong: 224})
