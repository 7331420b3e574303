import json

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.records.forced_wins import range_of, read_forced_wins

ROW = {"size": 15, "variant": "freestyle", "actions": [112, 97], "win": 100, "plies": 7}


def write(tmp_path, *texts):
    path = tmp_path / "positions.jsonl"
    path.write_text("\ufeff" + "\n".join(texts), encoding="utf-8")
    return path


def test_positions_are_read(tmp_path):
    (found, other) = read_forced_wins(write(tmp_path, json.dumps(ROW), "", json.dumps(ROW | {"plies": 20})))
    assert gomoku.to_fen(found.state) == gomoku.to_fen(gomoku.play(gomoku.play(gomoku.initial_state(15), 112), 97))
    assert [found.plies, other.plies] == [7, 20]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: not JSON"),
        ("[" * 100_000, "line 1: not JSON"),
        ("[1]", "line 1: expected an object with size, variant, actions and plies"),
        (json.dumps(ROW | {"actions": 5}), "line 1: size and plies are whole numbers"),
        (json.dumps(ROW | {"actions": [1.5]}), "line 1: size and plies are whole numbers"),
        (json.dumps(ROW | {"plies": -1}), "line 1: plies must be at least 1, not -1"),
        (json.dumps(ROW | {"size": 2}), "line 1: no Gomoku board of size 2"),
        (json.dumps(ROW | {"variant": "four"}), "line 1: no variant 'four'"),
        (json.dumps(ROW | {"actions": [1, 1]}), "line 1: action 1 is not legal here"),
        (json.dumps(ROW | {"size": 3, "variant": "exact-3", "actions": [0, 3, 1, 4, 2]}), "line 1: the game is over"),
        ("", "no positions in it"),
    ],
)
def test_bad_positions_are_named(tmp_path, text, message):
    with pytest.raises(ZugwerkError, match=message):
        read_forced_wins(write(tmp_path, text))


def test_no_such_file(tmp_path):
    with pytest.raises(ZugwerkError, match="no such file"):
        read_forced_wins(tmp_path / "none.jsonl")


def test_ranges():
    assert [range_of(plies) for plies in (3, 5, 6, 15, 25, 26)] == ["3-5", "3-5", "6-9", "10-15", "16-25", "26-"]
