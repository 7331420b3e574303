import csv

import numpy as np
import pytest

from pipeline_src.arena.score import clustered_mean, clustered_rate
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_table
from pipeline_src.games import amazons
from pipeline_src.systems.amazons_net.recorded import (
    Outcomes,
    Predictions,
    agreement,
    by_phase,
    join_predictions,
    metrics,
    phase_rows,
    recorded_turns,
)
from tests.players.positions import small_dataset
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
