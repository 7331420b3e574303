import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import load
from pipeline_src.systems.gomoku_zero.params import GomokuTrainParams, read_setting
from tests.systems.gomoku_zero.settings import write_params
from tests.systems.gomoku_zero.small import SECTION, params


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"window": 0}, "window must be at least 1"),
        ({"window": 15}, "window 15 is smaller than batch 16"),
        ({"batch": 0}, "batch"),
        ({"passes": 0.0}, "passes must be above 0"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"gradient_clip": 0.0}, "gradient_clip"),
        ({"momentum": 1.0}, "momentum"),
        ({"l2": -1.0}, "l2"),
        ({"optimizer": "sgd", "weight_decay": 0.1}, "weight_decay is for adamw only"),
        ({"schedule": {"soon": 0.5}}, "schedule: soon"),
        ({"schedule": {"02": 0.5}}, "schedule: write generation 2 without leading zeros, not 02"),
        ({"schedule": {3: 0.0}}, "schedule.3 must be above 0"),
        ({"optimizer": "adam"}, "'adam' is not one of adamw, sgd"),
    ],
)
def test_params_that_make_no_sense_are_refused(tmp_path, changed, why):
    path = tmp_path / "params.yaml"
    path.write_text(yaml12.dump({"gomoku_train": {**SECTION, **changed}}))
    with pytest.raises(ZugwerkError, match=f"gomoku_train.*{why}"):
        load(GomokuTrainParams, "gomoku_train", path)


def test_the_schedule_is_read_by_generation(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text(yaml12.dump({"gomoku_train": {**SECTION, "schedule": {10: 0.5, 9: 0.25}}}))
    found = load(GomokuTrainParams, "gomoku_train", path)
    assert [found.rate(n) / 5e-3 for n in (1, 8, 9, 10, 28)] == [1, 1, 0.25, 0.5, 0.5]


def test_steps_count_the_new_positions():
    assert params(passes=4.0, batch=256).steps(6400) == 100
    assert params(passes=0.5, batch=100).steps(1000) == 5
    assert params().steps(0) == 1


START = {"file": "model.pt", "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"gomoku_game": {"smaller": {"size": 4, "generations": 1}}}, "smaller needs net.kind: lines; a plain net"),
        ({"gomoku_game": {"size": 9, "variant": "freestyle-6"}, "gomoku_net": {"kind": "lines"}}, "that takes 11"),
        (
            {"gomoku_game": {"smaller": {"size": 4, "generations": 1}}, "gomoku_net": {"kind": "lines"}},
            "smaller needs gate.always",
        ),
        ({"gomoku_game": {"start": START | {"sha256": "0"}}}, "gomoku_game.start.sha256"),
        ({"gomoku_self_play": {"rounds": 3}}, "rounds must divide games, 10"),
        ({"gomoku_self_play": {"simulations": 0}}, "simulations must be at least 1"),
        ({"gomoku_self_play": {"simulatoins": 8}}, "gomoku_self_play.simulatoins: unknown key"),
        ({"gomoku_self_play": {"first": "search"}}, "gomoku_self_play.first: unknown key"),
        ({"gomoku_game": {"size": 4, "variant": "freestyle"}}, "gomoku_game: a line of 5 .* does not fit"),
        ({"gomoku_game": {"size": 2}}, "gomoku_game: size must be 3 to 25"),
        ({"gomoku_train": {"window": 8}}, "gomoku_train: window 8 is smaller than batch 16"),
        ({"gomoku_gate": {"games": 5}}, "gomoku_gate: games must be even"),
        (
            {"gomoku_game": {"variant": "freestyle-6", "size": 9}, "gomoku_self_play": {"fours": 40}},
            "self_play.fours: the search by fours knows lines of 3 to 5, not of 6",
        ),
    ],
)
def test_sections_that_contradict_each_other_are_refused(tmp_path, sections, message):
    with pytest.raises(ZugwerkError, match=message):
        read_setting(write_params(tmp_path, **sections))
