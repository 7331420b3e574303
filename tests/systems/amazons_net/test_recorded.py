import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.systems.amazons_net.recorded import recorded_turns
from tests.players.positions import small_dataset
from tests.systems.amazons_net.positions import random_records


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return small_dataset(tmp_path_factory.mktemp("data"))


def test_the_turns_of_the_test_split_are_those_of_its_games(dataset):
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
    samples = list(zip(dataset.gid[rows].tolist(), dataset.ply[rows].tolist(), strict=True))
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
