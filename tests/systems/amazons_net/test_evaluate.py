"""Recorded turns, and how nets and baselines agree with them."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from pipeline_src import yaml12
from pipeline_src.arena.score import clustered_mean, clustered_rate
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_table
from pipeline_src.games import amazons
from pipeline_src.games import amazons as rules
from pipeline_src.learning.torch_state import torch_threads
from pipeline_src.search.amazons.evaluation import make_evaluator, value_of
from pipeline_src.systems.amazons_net import baselines as amazons_baselines
from pipeline_src.systems.amazons_net import evaluate as amazons_evaluate
from pipeline_src.systems.amazons_net.answers import after_move
from pipeline_src.systems.amazons_net.baselines import (
    fit_scale,
    join_ranks,
    predict_one_ply,
    predict_uniform,
    rank_turns,
    win_rate,
)
from pipeline_src.systems.amazons_net.encode import encode
from pipeline_src.systems.amazons_net.evaluate import predict_nets
from pipeline_src.systems.amazons_net.forward import NetsForward
from pipeline_src.systems.amazons_net.nets import AmazonsConfig, save_nets
from pipeline_src.systems.amazons_net.player import NetsPlayer
from pipeline_src.systems.amazons_net.recorded import (
    Outcomes,
    Predictions,
    agreement,
    by_phase,
    join_predictions,
    metrics,
    phase_rows,
    recorded_turns,
    top_hits,
)
from tests.players.positions import small_dataset, small_nets, small_residual
from tests.run_stage import check_kill
from tests.systems.amazons_net.positions import random_records


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return small_dataset(tmp_path_factory.mktemp("data"))


def test_turns_of_test_split_match_its_games(dataset):
    turns, left_out = recorded_turns(dataset, "test")
    games = {game.gid: game for game in random_records(20)}
    assert left_out == 0
    assert set(turns.gids.tolist()) < set(games)
    for gid in np.unique(turns.gids):
        mine, game = turns.take(turns.gids == gid), games[int(gid)]
        assert mine.plies.tolist() == list(range(len(game.actions)))
        assert tuple(mine.actions().tolist()) == game.actions
        assert mine.results.tolist() == [int(game.winner == ("first", "second")[p % 2]) for p in mine.plies]
        state = amazons.initial_state()
        for known, action in zip(mine.states(), game.actions, strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(known, state, strict=True))
            state = amazons.play(state, action)


def test_half_turns_are_left_out_and_counted(dataset):
    """The start position belongs to the test split, so the other splits have its arrows without the move."""
    turns, left_out = recorded_turns(dataset, "train")
    rows = dataset.split("train")
    samples = list(zip(dataset.samples.gid[rows].tolist(), dataset.samples.ply[rows].tolist(), strict=True))
    whole = {key for key in samples if samples.count(key) == 2}
    assert left_out == len(samples) - 2 * len(whole) > 0
    assert set(zip(turns.gids.tolist(), turns.plies.tolist(), strict=True)) == whole
    assert all(amazons.is_legal(s, int(a)) for s, a in zip(turns.states(), turns.actions(), strict=True))


def test_chunks_and_spread(dataset):
    turns, _ = recorded_turns(dataset, "test")
    parts = list(turns.chunks(50))
    assert [len(part) for part in parts[:-1]] == [50] * (len(parts) - 1)
    assert np.concatenate([part.actions() for part in parts]).tolist() == turns.actions().tolist()
    few = turns.spread(10)
    assert len(few) == 10
    assert few.actions()[[0, -1]].tolist() == turns.actions()[[0, -1]].tolist()
    assert len(turns.spread(10**6)) == len(turns)


def test_a_split_without_whole_turns(dataset, monkeypatch):
    with pytest.raises(ZugwerkError, match="no split 'exam'"):
        recorded_turns(dataset, "exam")
    monkeypatch.setitem(dataset.manifest["splits"], "test", {"start": 0, "stop": 1})
    with pytest.raises(ZugwerkError, match="test split has no whole turn"):
        recorded_turns(dataset, "test")


OUTCOMES = Outcomes(
    results=np.array([1, 0, 1, 0, 1, 0]), gids=np.array([7, 7, 7, 9, 9, 9]), plies=np.array([0, 1, 2, 19, 20, 50])
)
PREDICTIONS = Predictions(
    rates={"turn_top1": np.array([1, 0, 0.5, 1, 1, 0])},
    win_rates={"value": np.array([0.9, 0.2, 0.5, 0.6, 0.3, 0.0])},
    errors={"move_l2": np.array([0.0, 3.0, 1.0, 2.0, 6.0, 0.0])},
)


def test_every_figure_by_hand():
    found = agreement(PREDICTIONS, OUTCOMES)
    assert {name: score.value for name, score in found.items()} == pytest.approx(
        {
            "turn_top1": 3.5 / 6,
            "value_accuracy": (1 + 1 + 0.5 + 0 + 0 + 1) / 6,
            "value_brier": (0.01 + 0.04 + 0.25 + 0.36 + 0.49 + 0) / 6,
            "value_l1": (0.1 + 0.2 + 0.5 + 0.6 + 0.7 + 0) / 6,
            "move_l2": 2.0,
        }
    )
    assert all(score.n == 6 for score in found.values())
    assert found["turn_top1"] == clustered_rate([1, 0, 0.5, 1, 1, 0], OUTCOMES.gids)
    assert found["move_l2"] == clustered_mean([0, 3, 1, 2, 6, 0], OUTCOMES.gids)


def test_phases_share_the_turns_out():
    phases = dict(by_phase(PREDICTIONS, OUTCOMES, (0, 20, 50)))
    assert {name: figures["turn_top1"].n for name, figures in phases.items()} == {"0-19": 4, "20-49": 1, "50-": 1}
    assert phases["0-19"]["turn_top1"].value == 2.5 / 4
    assert phases["20-49"]["value_brier"].value == pytest.approx(0.49)
    assert phases["50-"]["move_l2"].value == 0
    early = Outcomes(OUTCOMES.results, OUTCOMES.gids, np.zeros(6, np.int16))
    assert [name for name, _ in by_phase(PREDICTIONS, early, (0, 20, 50))] == ["0-19"]


def test_brier_score_of_a_calibrated_forecaster():
    rng = np.random.default_rng(2)
    win_rate = rng.random(50_000)
    outcomes = Outcomes(rng.random(50_000) < win_rate, np.arange(50_000), np.zeros(50_000, int))
    assert agreement(Predictions({}, {"value": win_rate}, {}), outcomes)["value_brier"].value == pytest.approx(
        1 / 6, abs=0.005
    )


def test_joined_parts_equal_the_whole():
    parts = [
        Predictions(
            *(
                {k: v[rows] for k, v in kind.items()}
                for kind in (PREDICTIONS.rates, PREDICTIONS.win_rates, PREDICTIONS.errors)
            )
        )
        for rows in (slice(0, 2), slice(2, 6))
    ]
    assert agreement(join_predictions(parts), OUTCOMES) == agreement(PREDICTIONS, OUTCOMES)


def test_tables(tmp_path):
    rows = phase_rows(by_phase(PREDICTIONS, OUTCOMES, (0, 20, 50)))
    write_table(tmp_path / "phases.csv", rows)
    with open(tmp_path / "phases.csv", newline="") as file:
        read = list(csv.DictReader(file))
    assert [(row["phase"], row["turns"]) for row in read] == [("0-19", "4"), ("20-49", "1"), ("50-", "1")]
    assert float(read[0]["turn_top1"]) == 2.5 / 4
    assert float(read[0]["turn_top1_low"]) < 2.5 / 4 < float(read[0]["turn_top1_high"])
    assert read[1]["move_l2_low"] == ""  # one game gives no interval
    write_table(tmp_path / "empty.csv", [])
    assert metrics(agreement(PREDICTIONS, OUTCOMES))["turn_top1"]["n"] == 6


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return recorded_turns(small_dataset(tmp_path_factory.mktemp("data"), 20, 6, shares=(1, 1, 2)), "test")[0].spread(60)


@pytest.fixture(scope="module")
def ranks(few):
    return rank_turns(few)


def test_ranks_are_those_of_a_slow_reference(few, ranks):
    evaluator = make_evaluator()
    for row, (state, action) in enumerate(zip(few.states(), few.actions().tolist(), strict=True)):
        after = {int(a): amazons.play(state, int(a)) for a in amazons.legal_actions(state)}
        worth = {a: -np.float32(value_of(child, evaluator)) for a, child in after.items()}
        arrows = {a: v for a, v in worth.items() if a // N == action // N}
        moves = {a // N: max(v for b, v in worth.items() if b // N == a // N) for a in worth}
        for column, (values, own) in enumerate(((moves, action // N), (arrows, action), (worth, action))):
            assert ranks.legal[row, column] == len(values)
            assert ranks.better[row, column] == sum(v > values[own] for v in values.values())
            assert ranks.equal[row, column] == sum(v == values[own] for v in values.values())
        assert ranks.value[row] == max(arrows.values())
        assert ranks.value_before[row] == max(worth.values())


def test_one_ply_rates_follow_from_the_ranks(ranks):
    found = predict_one_ply(ranks, 3.0)
    for column, name in enumerate(("from_to", "arrow", "turn")):
        for k in (1, 5):
            expected = top_hits(ranks.better[:, column], ranks.equal[:, column], k)
            assert np.array_equal(found.rates[f"{name}_top{k}"], expected)
    assert np.allclose(found.win_rates["value"], 1 / (1 + np.exp(-ranks.value / 3)))
    assert (found.win_rates["value_before"] >= found.win_rates["value"]).all()


def test_chance_is_one_over_legal_turns(few, ranks):
    found = predict_uniform(ranks)
    for row, state in enumerate(few.states()):
        count = len(amazons.legal_actions(state))
        assert found.rates["turn_top1"][row] == 1 / count
        assert found.rates["turn_top5"][row] == min(1, 5 / count)
    assert (found.win_rates["value"] == 0.5).all()


def test_joined_tasks_equal_the_whole(few, ranks):
    joined = join_ranks([rank_turns(some) for some in few.chunks(7)])
    assert all(np.array_equal(a, b) for a, b in zip(joined, ranks, strict=True))


def test_ranks_name_an_illegal_turn(few):
    wrong = few.arrow.copy()
    wrong[3] = few.to[3]
    with pytest.raises(ZugwerkError, match=f"game {few.gids[3]}, ply {few.plies[3]}: .* is not legal there"):
        rank_turns(replace(few, arrow=wrong))


@pytest.mark.parametrize("scale", [0.7, 4.0, 30.0])
def test_the_scale_is_found_again(scale):
    rng = np.random.default_rng(1)
    value = rng.normal(0, 2 * scale, 40_000)
    results = (rng.random(40_000) < win_rate(value, scale)).astype(np.int8)
    assert fit_scale(value, results) == pytest.approx(scale, rel=0.05)


def test_a_scale_that_cannot_be_found_stays_within_bounds():
    value, won = np.array([-3.0, -1.0, 2.0]), np.array([0, 0, 1])
    assert fit_scale(value, won) == pytest.approx(0.1)
    assert fit_scale(value, 1 - won) == pytest.approx(1_000)
    assert np.array_equal(win_rate(np.array([-1e9, 0, 1e9]), 0.1), [0, 0.5, 1])


SIZE, N = 6, 36


class FakeNets(torch.nn.Module):
    """Logits that are linear in the features, so that policies are peaked; with turns, an oracle."""

    def __init__(self, turns=None, confidence=0.0, noise=1.0, size=SIZE):
        super().__init__()
        self.config = AmazonsConfig(size=size)
        rng, n = torch.Generator().manual_seed(5), size * size
        self.weights = torch.nn.ParameterDict(
            {k: torch.randn(4 * n, m, generator=rng) * noise / 250 for k, m in (("move", n * n), ("arrow", n))}
        )
        self.known = {}
        if turns is not None:
            before = encode(turns.boards, turns.movers, np.full(len(turns), -1, np.int16)).features
            boards = after_move(turns.boards, turns.movers, turns.start, turns.to)
            after = encode(boards, turns.movers, turns.to).features
            sign = 2.0 * turns.results - 1
            for i in range(len(turns)):
                entries = ((before, int(turns.start[i]) * n + int(turns.to[i])), (after, int(turns.arrow[i])))
                for features, entry in entries:
                    self.known[features[i].tobytes()] = (entry, confidence, float(sign[i]) * confidence)

    def answer(self, features, which):
        logits, value = features.flatten(1) @ self.weights[which], features.mean((1, 2, 3)) / 100 - 0.9
        for i, row in enumerate(features):
            entry, bonus, sure = self.known.get(row.numpy().tobytes(), (0, 0.0, 0.0))
            logits[i, entry] += bonus
            value[i] += sure
        return value, logits

    def move(self, features):
        return self.answer(features, "move")

    def arrow(self, features):
        return self.answer(features, "arrow")


@pytest.fixture(scope="module")
def turns(tmp_path_factory):
    return recorded_turns(small_dataset(tmp_path_factory.mktemp("data"), 40, SIZE, shares=(1, 1, 2)), "test")[0]


def slow(nets, turns):
    """Each position by itself, each move of the beam by itself, legality from the rules."""
    found = []
    for row, state in enumerate(turns.states()):
        mover = turns.movers[row : row + 1]

        def ask(state, moved, mover=mover):
            encoded = encode(state.board[None, ::-1], mover, np.array([moved], np.int16))
            value, logits = (nets.move if moved < 0 else nets.arrow)(torch.from_numpy(encoded.features))
            return float(value.sigmoid()), logits[0]

        def arrows(move, state=state, ask=ask):
            legal = [int(a) % N for a in rules.legal_actions(state) if a // N == move]
            value, logits = ask(rules.move(state, move // N, move % N), move % N)
            return value, dict(zip(legal, logits[legal].log_softmax(0).tolist(), strict=True))

        value_before, logits = ask(state, -1)
        moves = rules.legal_moves(state).tolist()
        log_p = dict(zip(moves, logits[moves].log_softmax(0).tolist(), strict=True))
        played, arrow = int(turns.start[row]) * N + int(turns.to[row]), int(turns.arrow[row])
        beam = sorted(moves, key=lambda m, p=log_p: -p[m])[:5]
        value, of_played = arrows(played)
        joint = {(m, a): log_p[m] + p for m in beam for a, p in arrows(m)[1].items()}
        best_turns = sorted(joint, key=lambda t, j=joint: -j[t])[:5]
        best_arrow = max(of_played, key=lambda a, p=of_played: p[a])

        def distance(a, b):
            return np.hypot(a % SIZE - b % SIZE, a // SIZE - b // SIZE)

        found.append(
            {
                "from_to_top1": beam[0] == played,
                "from_to_top5": played in beam,
                "arrow_top1": best_arrow == arrow,
                "arrow_top5": arrow in sorted(of_played, key=lambda a, p=of_played: -p[a])[:5],
                "turn_top1": beam[0] == played and best_arrow == arrow,
                "turn_top5": (played, arrow) in best_turns,
                "legal_rate": True,
                "value": value,
                "value_before": value_before,
                "move_l2": distance(beam[0] // N, played // N) + distance(beam[0] % N, played % N),
                "arrow_l2": distance(best_arrow, arrow),
            }
        )
    return {name: np.array([row[name] for row in found], float) for name in found[0]}


@pytest.mark.parametrize("confidence", [0.0, 3.0])
def test_predictions_are_those_of_a_slow_reference(turns, confidence):
    nets, some = FakeNets(turns, confidence), turns.spread(150)
    found = predict_nets(NetsForward(nets, 64, threads=1), some)
    expected = slow(nets, some)
    for name, values in {**found.rates, **found.win_rates}.items():
        assert np.allclose(values, expected[name], atol=1e-6), name
    for name in ("move_l2", "arrow_l2"):
        assert np.allclose(found.errors[name], expected[name]), name
    loss = (some.results - expected["value_before"]) ** 2 + expected["move_l2"] ** 2
    assert np.allclose(found.errors["move_loss"], loss)
    loss = (some.results - expected["value"]) ** 2 + expected["arrow_l2"] ** 2
    assert np.allclose(found.errors["arrow_loss"], loss)
    if confidence:  # the beam is put to work: some turns are in it and are not among its best five
        assert 0.05 < (found.rates["from_to_top5"] - found.rates["turn_top5"]).mean() < 0.9


def test_oracle_scores_perfectly(turns):
    game = turns.take(turns.gids == turns.gids[0])
    found = predict_nets(NetsForward(FakeNets(game, confidence=80.0), 16, threads=1), game)
    assert {name: values.min() for name, values in found.rates.items()} == dict.fromkeys(found.rates, 1.0)
    for values in found.win_rates.values():
        assert np.allclose(values, game.results)
    for values in found.errors.values():
        assert np.allclose(values, 0, atol=1e-12)


def test_equal_moves_are_scored_by_expectation(turns):
    """Nets that know nothing: every legal move is as likely as every other."""
    found = predict_nets(NetsForward(FakeNets(noise=0.0), 64, threads=1), turns)
    for row, state in enumerate(turns.states()):
        moves, actions = sorted(rules.legal_moves(state)), rules.legal_actions(state)
        arrows = (actions // N == turns.actions()[row] // N).sum()
        assert found.rates["from_to_top1"][row] == 1 / len(moves)
        assert found.rates["from_to_top5"][row] == min(1, 5 / len(moves))
        assert found.rates["arrow_top5"][row] == min(1, 5 / arrows)
        assert found.rates["turn_top1"][row] == pytest.approx(1 / len(moves) / arrows)
        # Whole turns are likelier the fewer arrows their move leaves; the beam is the first five moves.
        shots = [(actions // N == move).sum() for move in moves[:5]]
        in_beam = turns.actions()[row] // N in moves[:5]
        better, equal = sum(s for s in shots if s < arrows), sum(s for s in shots if s == arrows)
        assert found.rates["turn_top5"][row] == (np.clip((5 - better) / equal, 0, 1) if in_beam else 0)


@pytest.mark.parametrize("make", [small_nets, small_residual])
def test_net_turns_are_the_players_and_legality_is_counted(turns, monkeypatch, make):
    nets, asked = make(SIZE), []

    def is_legal(state, action):
        asked.append(action)
        return len(asked) % 4 != 0 and rules.is_legal(state, action)

    monkeypatch.setattr(amazons_evaluate, "is_legal", is_legal)
    found = predict_nets(NetsForward(nets, 16, threads=1), turns)
    assert asked == [turn.action for turn in NetsPlayer(NetsForward(nets, 16)).turns(list(turns.states()))]
    assert found.rates["legal_rate"].sum() == len(turns) - len(turns) // 4


def test_result_is_independent_of_chunks(turns, monkeypatch):
    # More rows than two vectors of AVX-512 hold, and chunks that do not fill them: their ends are computed otherwise.
    nets = NetsForward(small_nets(SIZE), 64, threads=1)
    whole = predict_nets(nets, turns)
    monkeypatch.setattr(amazons_evaluate, "CHUNK", 37)
    parts = predict_nets(nets, turns)
    for kind in ("rates", "win_rates", "errors"):
        for name, values in getattr(whole, kind).items():
            assert np.array_equal(values, getattr(parts, kind)[name])


@pytest.mark.parametrize("field", ["start", "to", "arrow"])
def test_an_illegal_turn_in_the_data_is_named(turns, field):
    wrong = getattr(turns, field).copy()
    wrong[7] = turns.start[7] if field != "start" else turns.to[7]
    if field == "arrow":
        wrong[7] = turns.to[7]
    bad = replace(turns, **{field: wrong})
    with pytest.raises(ZugwerkError, match=f"game {turns.gids[7]}, ply {turns.plies[7]}: .* is not legal there"):
        predict_nets(NetsForward(small_nets(SIZE), 16, threads=1), bad)


def test_nets_for_other_sizes_are_refused(turns):
    with pytest.raises(ZugwerkError, match="6x6 board, but these nets play on 8x8"):
        predict_nets(NetsForward(small_nets(8), 16, threads=1), turns)


@pytest.mark.parametrize(
    ("better", "equal", "k", "chance"),
    [(0, 1, 1, 1), (1, 1, 1, 0), (0, 4, 1, 0.25), (3, 4, 5, 0.5), (4, 1, 5, 1), (5, 3, 5, 0), (0, 3, 5, 1)],
)
def test_ties_are_scored_by_expectation(better, equal, k, chance):
    assert top_hits([better], [equal], k).tolist() == [chance]


PARAMS = {
    "seed": 1,
    "torch_threads": 1,
    "parallel": {"workers": 1},
    "amazons_evaluate": {"batch": 32},
    "amazons_baselines": {"fit_turns": 100},
}
RATES = {f"{choice}_top{k}" for choice in ("from_to", "arrow", "turn") for k in (1, 5)}
VALUES = {f"{rate}_{figure}" for rate in ("value", "value_before") for figure in ("accuracy", "brier", "l1")}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(yaml12.dump(PARAMS))
    amazons_evaluate.SAMPLES.parent.mkdir(parents=True)
    small_dataset(tmp_path, 20, 6)
    (tmp_path / "samples").rename(amazons_evaluate.SAMPLES)
    save_nets(amazons_evaluate.MODELS / "soft_argmax" / "nets.pt", small_nets(6))
    save_nets(amazons_evaluate.MODELS / "residual" / "nets.pt", small_residual(6))
    with torch_threads(torch.get_num_threads()):
        yield tmp_path


def evaluate(model):
    amazons_evaluate.main("--model", model)
    return {path.name: path.read_bytes() for path in sorted(amazons_evaluate.OUT.iterdir())}


def baselines():
    amazons_baselines.main()
    return {path.name: path.read_bytes() for path in sorted(amazons_baselines.OUT.iterdir())}


def rows(text):
    return list(csv.DictReader(text.decode().splitlines()))


@pytest.mark.parametrize("model", ["soft_argmax", "residual"])
def test_the_nets_figures(project, monkeypatch, model):
    files = evaluate(model)
    assert set(files) == {f"{model}.{kind}" for kind in ("json", "phases.csv", "calibration.csv")}
    report = json.loads(files[f"{model}.json"])
    assert set(report) == {"games", "turns", "turns_left_out", "nets"}
    assert report["games"] == 2
    assert set(report["nets"]) == RATES | VALUES | {"legal_rate", "move_l2", "arrow_l2", "move_loss", "arrow_loss"}
    for figure in report["nets"].values():
        assert figure["low"] <= figure["value"] <= figure["high"]
        assert figure["n"] == report["turns"]
    assert report["nets"]["legal_rate"]["value"] == 1
    phases, bins = rows(files[f"{model}.phases.csv"]), rows(files[f"{model}.calibration.csv"])
    assert sum(int(row["turns"]) for row in phases) == sum(int(row["turns"]) for row in bins) == report["turns"]
    assert evaluate(model) == files


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_baselines_figures(project, workers):
    files = baselines()
    assert set(files) == {"baselines.json", "one_ply.phases.csv", "one_ply.calibration.csv", "uniform.phases.csv"}
    report = json.loads(files["baselines.json"])
    assert set(report["one_ply"]) == set(report["uniform"]) == RATES | VALUES
    assert report["uniform"]["value_brier"]["value"] == 0.25
    assert 0 < report["uniform"]["turn_top1"]["value"] < 0.5
    assert 0.1 <= report["one_ply_scale"] <= 1_000
    (project / "params.yaml").write_text(yaml12.dump(PARAMS | {"parallel": {"workers": workers}}))
    assert baselines() == files


def test_after_a_kill_the_baselines_equal_those_of_one_run(project, monkeypatch):
    monkeypatch.setattr(amazons_baselines, "CHUNK", 7)
    check_kill(monkeypatch, baselines)
    assert not amazons_baselines.WORK.exists()
