import dataclasses

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import AmazonsState, from_fen
from pipeline_src.games.amazons.notation import parse_move
from pipeline_src.learning.canonical import canonical_hashes
from pipeline_src.records.parquet import write_records
from pipeline_src.systems.amazons_net.archive import Games, read_games
from pipeline_src.systems.amazons_net.replay import Replayer
from pipeline_src.systems.amazons_net.schema import FIELDS, Samples
from tests.systems.amazons_net.positions import (
    GOLDEN_BOARD,
    GOLDEN_FEN,
    matrix,
    random_game,
    random_records,
    record,
    slow_samples,
)


def replayer_of(records, path, size, variants=("standard",)):
    write_records(records, path)
    return Replayer(read_games(path, size, variants).games, size, variants)


def rows_of(samples):
    columns = [values.tolist() for values in samples]
    return [dict(zip(samples._fields, row, strict=True)) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("size", [6, 8, 10])
def test_equals_the_slow_reference_on_random_games(size, tmp_path):
    records = random_records(4, seed=size, size=size)
    samples, hashes = replayer_of(records, tmp_path / "g.parquet", size).replay(np.arange(4))
    expected = [sample for game in records for sample in slow_samples(game)]
    assert rows_of(samples) == expected
    assert hashes.tolist() == canonical_hashes(samples.board, samples.mover).tolist()


def test_each_game_starts_from_its_variant_and_any_order_may_be_asked(tmp_path):
    rng = np.random.default_rng(9)
    variants = ("cross", "standard")
    records = [record(gid, *random_game(rng, 10, variants[gid % 2]), variant=variants[gid % 2]) for gid in range(4)]
    replayer = replayer_of(records, tmp_path / "g.parquet", 10, variants)
    samples, _ = replayer.replay(np.array([3, 0]))
    assert rows_of(samples) == slow_samples(records[3]) + slow_samples(records[0])


def test_arrays_are_as_the_schema_says(tmp_path):
    samples, _ = replayer_of(random_records(1), tmp_path / "g.parquet", 10).replay(np.arange(1))
    assert tuple(field.name.replace("from", "from_") for field in FIELDS) == Samples._fields
    for field, values in zip(FIELDS, samples, strict=True):
        assert values.dtype == field.dtype
        assert values.shape == (len(samples.board), *field.shape(10))


def test_the_patents_own_sample():
    action = parse_move("D9-E10/E5")
    games = Games(
        gid=np.array([1]),
        start=np.zeros(1, np.int8),
        first_won=np.array([False]),
        teachers=np.array([[True, False]]),
        offsets=np.array([0, 1]),
        actions=np.array([action], np.int32),
    )
    replayer = Replayer(games, 10, ["standard"])
    replayer.starts = AmazonsState(*(array[None] for array in from_fen(GOLDEN_FEN)))
    before, after = rows_of(replayer.replay(np.arange(1))[0])
    board = matrix(GOLDEN_BOARD) / 100
    assert before["board"] == board.tolist()
    assert (before["type"], before["from_"], before["to"], before["arrow"]) == (0, [3, 1], [4, 0], [-1, -1])
    board[1, 3], board[0, 4] = 1, 3
    assert after["board"] == board.tolist()
    assert (after["type"], after["from_"], after["to"], after["arrow"]) == (1, [-1, -1], [-1, -1], [4, 5])
    assert after["moved"] == [4, 0]
    assert before["result"] == after["result"] == 0  # White moved and lost


def test_an_illegal_turn_is_named(tmp_path):
    good, bad = random_records(2)
    actions = (*bad.actions[:2], bad.actions[0], *bad.actions[3:])
    records = [good, dataclasses.replace(bad, actions=actions)]
    replayer = replayer_of(records, tmp_path / "g.parquet", 10)
    with pytest.raises(ZugwerkError, match=rf"game {bad.gid}: turn 3, .+-.+/.+, is not legal"):
        replayer.replay(np.arange(2))
    assert len(replayer.replay(np.array([0]))[1]) == 2 * len(good.actions)


@pytest.mark.parametrize("action", [-1, -(2**31), 2**31 - 1, 10**6, 0])
def test_no_number_crashes_the_replay(action, tmp_path):
    replayer = replayer_of([record(1, (action,), "first")], tmp_path / "g.parquet", 10)
    with pytest.raises(ZugwerkError, match="game 1: turn 1"):
        replayer.replay(np.arange(1))


def test_a_game_without_turns_gives_no_samples(tmp_path):
    records = [record(1, (), "first"), *random_records(1, size=6)]
    records[0] = dataclasses.replace(records[0], height=6, width=6)
    samples, _ = replayer_of(records, tmp_path / "g.parquet", 6).replay(np.arange(2))
    assert set(samples.gid.tolist()) == {100}
