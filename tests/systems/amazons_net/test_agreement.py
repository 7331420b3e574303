import csv

import numpy as np
import pytest

from pipeline_src.arena.score import clustered_mean, clustered_rate
from pipeline_src.files import write_table
from pipeline_src.systems.amazons_net.agreement import Outcomes, agreement, by_phase
from pipeline_src.systems.amazons_net.predictions import Predictions, join_predictions
from pipeline_src.systems.amazons_net.tables import metrics, phase_rows

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


def test_the_brier_score_of_a_forecaster_that_is_right_about_its_doubts():
    rng = np.random.default_rng(2)
    win_rate = rng.random(50_000)
    outcomes = Outcomes(rng.random(50_000) < win_rate, np.arange(50_000), np.zeros(50_000, int))
    assert agreement(Predictions({}, {"value": win_rate}, {}), outcomes)["value_brier"].value == pytest.approx(
        1 / 6, abs=0.005
    )


def test_parts_joined_are_the_whole():
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
    assert read[1]["move_l2_low"] == ""  # from one game no interval can be told
    write_table(tmp_path / "empty.csv", [])
    assert metrics(agreement(PREDICTIONS, OUTCOMES))["turn_top1"]["n"] == 6
