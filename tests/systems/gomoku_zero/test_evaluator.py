"""Input planes, priors and backends of a net as a search's evaluator."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import GomokuState, from_fen
from pipeline_src.learning.symmetry import COUNT, board_maps
from pipeline_src.systems.gomoku_zero.evaluator import (
    Backend,
    BackendName,
    Synchronous,
    ZeroEvaluator,
    legal_priors,
    open_backend,
    open_evaluator,
    plane_count,
    resolve,
    zero_planes,
)
from pipeline_src.systems.gomoku_zero.models import export_onnx, info_of, save_model
from tests.systems.gomoku_zero.small import (
    SMALL,
    model,
    random_game,
    slow_planes,
    some_planes,
    stacked,
    states_of,
    unfinished,
)

CONFIG = SMALL["plain"]
BACKENDS = ("torch", "torch-bf16", "onnx", "onnx-int8")


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return open_backend(model(CONFIG), request.param)


def positions(count: int, seed: int = 0) -> tuple[GomokuState, np.ndarray, np.ndarray]:
    """Stacked states of random play on 6x6, their legal steps int32 [B, 36], their numbers [B]."""
    rng, states = np.random.default_rng(seed), list(unfinished(6, 3, seed))
    chosen = [states[i] for i in rng.choice(len(states), count, replace=False)]
    steps, counts = np.zeros((count, 36), np.int32), np.zeros(count, np.int32)
    for b, state in enumerate(chosen):
        legal = gomoku.legal_actions(state)
        steps[b, : len(legal)], counts[b] = legal, len(legal)
    return stacked(chosen), steps, counts


def rows(batch: tuple[GomokuState, np.ndarray, np.ndarray], which: np.ndarray) -> tuple:
    states, steps, counts = batch
    return GomokuState(*(array[which] for array in states)), steps[which], counts[which]


def test_priors_and_values_of_legal_steps(backend: Backend) -> None:
    batch = positions(21)
    priors, values = ZeroEvaluator(backend, CONFIG.positions, 8)(*batch)
    assert priors.dtype == values.dtype == np.float32
    np.testing.assert_allclose(priors.sum(1), 1, rtol=1e-5)
    beyond = np.arange(36) >= batch[2][:, None]
    assert (priors[beyond] == 0).all()
    assert (priors[~beyond] > 0).all()
    assert (np.abs(values) <= 1).all()
    assert np.ptp(values) > 0.01


def test_an_answer_depends_on_nothing_but_its_position(backend: Backend) -> None:
    batch = positions(21)
    evaluate = ZeroEvaluator(backend, CONFIG.positions, 8)
    priors, values = evaluate(*batch)
    rng = np.random.default_rng(1)
    for size in (1, 2, 7, 8, 9, 21):
        which = rng.permutation(21)[:size]
        some_priors, some_values = evaluate(*rows(batch, which))
        assert (some_priors == priors[which]).all()
        assert (some_values == values[which]).all()


def test_backends_agree() -> None:
    batch, made = positions(21), model(CONFIG)
    answers = {name: ZeroEvaluator(open_backend(made, name), CONFIG.positions, 8)(*batch) for name in BACKENDS}
    for mine, theirs in zip(answers["torch"], answers["onnx"], strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-4)
    for name in ("torch-bf16", "onnx-int8"):
        for mine, theirs in zip(answers[name], answers["onnx"], strict=True):
            np.testing.assert_allclose(mine, theirs, atol=0.1)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_agrees() -> None:
    batch, made = positions(21), model(CONFIG)
    answers = [ZeroEvaluator(open_backend(made, name), CONFIG.positions, 8)(*batch) for name in ("cuda", "onnx")]
    for mine, theirs in zip(*answers, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=0.05)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_missing_gpu_is_reported() -> None:
    with pytest.raises(ZugwerkError, match="torch sees no GPU here; use another backend: onnx or torch"):
        open_backend(model(CONFIG), "cuda")


ASYNCHRONOUS = ["onnx", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]


@pytest.mark.parametrize("name", ASYNCHRONOUS)
def test_two_batches_in_flight(name: BackendName) -> None:
    evaluate = ZeroEvaluator(open_backend(model(CONFIG), name), CONFIG.positions, 4)
    one, other = positions(6, seed=1), positions(9, seed=2)
    first, second = evaluate.submit(*one), evaluate.submit(*other)
    for pending, batch in ((second, other), (first, one)):
        for mine, theirs in zip(evaluate.wait(pending), evaluate(*batch), strict=True):
            assert (mine == theirs).all()


def test_other_board_and_broken_net_are_reported() -> None:
    batch, made = positions(2), model(SMALL["oblong"])
    with pytest.raises(ZugwerkError, match="a 6x6 board, but this model plays on 5x7"):
        ZeroEvaluator(open_backend(made, "torch"), 2, 4)(*batch)
    for logit, value, complaint in ((np.nan, 0.0, "numbers that are not finite"), (0.0, np.nan, "values that are not")):
        answer = np.full((4, 36), logit, np.float32), np.full(4, value, np.float32)
        broken = Synchronous(lambda _, answer=answer: answer, info_of(model(CONFIG)))
        with pytest.raises(ZugwerkError, match=complaint):
            ZeroEvaluator(broken, 2, 4)(*batch)
    with pytest.raises(ZugwerkError, match="at least 1 row"):
        ZeroEvaluator(broken, 2, 0)


def test_a_model_opens_from_file_bytes_and_memory(tmp_path: Path) -> None:
    made = model(CONFIG)
    save_model(tmp_path / "model.pt", made.net)
    (tmp_path / "model.onnx").write_bytes(export_onnx(made))
    planes = some_planes(CONFIG).numpy()
    expected = open_backend(made, "onnx").run(planes)
    for source in (tmp_path / "model.pt", str(tmp_path / "model.onnx"), export_onnx(made)):
        opened = open_backend(source, "onnx")
        assert (opened.info.height, opened.info.width, opened.info.positions) == (6, 6, 2)
        assert (opened.info.game, opened.info.variant, opened.info.kind) == ("gomoku", "freestyle", "plain")
        for mine, theirs in zip(opened.run(planes), expected, strict=True):
            assert (mine == theirs).all()
    assert isinstance(open_backend(tmp_path / "model.onnx", "auto"), Synchronous)


def test_auto_is_the_fastest_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve("auto") == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert resolve("auto") == "onnx"
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert resolve("auto") == "torch"
    assert resolve("onnx-int8") == "onnx-int8"


def test_a_worker_needs_no_torch(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(export_onnx(model(CONFIG)))
    code = (
        "import sys\n"
        "from pipeline_src.systems.gomoku_zero.evaluator import ZeroEvaluator, open_backend\n"
        f"ZeroEvaluator(open_backend({str(path)!r}), 2, 4)\n"
        "assert not {'torch', 'lightning', 'onnx'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_changed_model_is_opened_again(tmp_path: Path) -> None:
    states, steps, counts = positions(3)
    found = []
    for seed in (1, 2):
        save_model(tmp_path / "best.pt", model(CONFIG, seed).net, "freestyle")
        evaluate = open_evaluator(tmp_path / "best.pt", "torch", 8)
        assert open_evaluator(tmp_path / "best.pt", "torch", 8) is evaluate
        found.append(evaluate(states, steps, counts)[1])
    assert not np.allclose(*found)


def planes_of(states: list[GomokuState], positions: int, dtype: type = np.float32) -> np.ndarray:
    height, width = states[0].board.shape
    out = np.full((len(states), plane_count(positions), height, width), 7, dtype)
    zero_planes(stacked(states), positions, out)
    return out


def game(seed: int) -> list[int]:
    return random_game(np.random.default_rng(seed), 9, "freestyle")[0][:40]


@pytest.mark.parametrize("positions", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_planes_are_the_boards_of_the_last_plies(positions: int, dtype: type) -> None:
    for seed in range(4):
        states = states_of(game(seed))
        planes = planes_of(states, positions, dtype)
        assert planes.dtype == dtype
        for ply in range(len(states)):
            assert (planes[ply] == slow_planes(states, ply, positions)).all()


def test_position_without_history_repeats_its_board() -> None:
    known = states_of(game(3)[:12])[-1]
    state = from_fen(gomoku.to_fen(known))
    planes = planes_of([state], 5)[0]
    for k in range(5):
        assert (planes[k] == (state.board == 1)).all()
        assert (planes[5 + k] == (state.board == 2)).all()
    after = gomoku.play(state, int(gomoku.legal_actions(state)[0]))
    later = planes_of([after], 5)[0]
    assert (later[5:10].sum((1, 2)) == [7, 6, 6, 6, 6]).all()  # one ply is known, and only one
    assert (later[:5].sum((1, 2)) == 6).all()


@pytest.mark.parametrize("seed", range(3))
def test_planes_turn_with_the_board(seed: int) -> None:
    actions, maps = game(seed), board_maps(9)
    planes = planes_of([states_of(actions)[-1]], 3)[0]
    for g in range(COUNT):
        there = np.argsort(maps[g])  # cell s of the board goes to cell there[s] of the board under g
        turned = planes_of([states_of([int(there[action]) for action in actions])[-1]], 3)[0]
        assert (turned.reshape(7, 81) == planes.reshape(7, 81)[:, maps[g]]).all()


def test_another_shape_is_refused() -> None:
    states = stacked([gomoku.initial_state(9)])
    for positions, shape in ((2, (1, 4, 9, 9)), (2, (2, 5, 9, 9)), (2, (1, 5, 9, 8)), (0, (1, 1, 9, 9))):
        with pytest.raises(ZugwerkError, match="history"):
            zero_planes(states, positions, np.empty(shape, np.float32))


def test_priors_are_the_softmax_over_legal_steps() -> None:
    rng = np.random.default_rng(0)
    logits = (rng.normal(size=(3, 20)) * 30).astype(np.float32)
    steps, counts = np.full((2, 6), 99, np.int32), np.array([4, 6], np.int32)
    for b in range(2):
        steps[b, : counts[b]] = rng.choice(20, counts[b], replace=False)
    out = np.full((2, 6), 9, np.float32)
    legal_priors(logits, steps, counts, out)
    for b in range(2):
        weights = np.exp(logits[b, steps[b, : counts[b]]].astype(float) - logits[b].max())
        np.testing.assert_allclose(out[b, : counts[b]], weights / weights.sum(), rtol=1e-5)
        assert (out[b, counts[b] :] == 0).all()


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_broken_net_is_reported(number: float) -> None:
    logits, steps = np.zeros((1, 4), np.float32), np.arange(3, dtype=np.int32)[None]
    logits[0, 1] = number
    with pytest.raises(ZugwerkError, match="not finite"):
        legal_priors(logits, steps, np.array([3], np.int32), np.empty((1, 3), np.float32))
    logits[0, 3], logits[0, 1] = number, 0  # not a legal step
    legal_priors(logits, steps, np.array([3], np.int32), np.empty((1, 3), np.float32))
