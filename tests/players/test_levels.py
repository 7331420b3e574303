"""Levels: the table, and the player that plays at one of them whatever time it gets."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.games.game import get_game
from pipeline_src.players import levels
from pipeline_src.players.packaged import ANCHOR_ELO, LENT, Ladder, Level, elo_range, ladders, level_words
from pipeline_src.players.player import Bounds, OneBoard, Position
from pipeline_src.players.registry import build_player, limits_in, make_player
from pipeline_src.report.figures import REGISTRY
from pipeline_src.search.limits import Clock, Limit
from tests.arena import gomoku_fakes  # noqa: F401 - registers the player

MEASURED = Path(__file__).parents[2] / "docs/measured"
SYSTEMS = {"amazons": "amazons_engine", "gomoku": "gomoku_engine"}


def every(ladder):
    return pytest.param(ladder, id=f"{ladder.game}-{ladder.size}-{ladder.variant}")


@pytest.mark.parametrize("ladder", map(every, ladders()))
def test_each_level_is_stronger_than_the_one_before(ladder):
    assert 6 <= len(ladder.levels) <= 8
    for weaker, stronger in pairwise(ladder.levels):
        assert weaker.elo < stronger.elo, (weaker.name, stronger.name)
    for level in ladder.levels:
        assert level.low < level.elo < level.high or level.player == ladder.anchor
        assert level.games >= 20


@pytest.mark.parametrize("ladder", map(every, ladders()))
def test_the_table_has_the_elo_of_the_committed_match(ladder):
    name, found = f"levels_{ladder.size}_{ladder.variant}", read_json(MEASURED / f"{SYSTEMS[ladder.game]}.json")
    assert name in REGISTRY[SYSTEMS[ladder.game]]
    first, last = ladder.levels[0], ladder.levels[-1]
    assert last.elo - first.elo == pytest.approx(found[name]["value"], abs=1.5)  # each is rounded
    rows = found["levels"][f"{ladder.game}-{ladder.size}-{ladder.variant}"]
    assert {one for row in rows for one in (row["a"], row["b"])} == {level.player for level in ladder.levels}
    assert [level.player for level in ladder.levels if level.elo == ANCHOR_ELO] == [ladder.anchor]


@pytest.mark.parametrize("ladder", map(every, ladders()))
def test_no_level_is_limited_by_time(ladder):
    for text in (ladder.anchor, *(level.player for level in ladder.levels)):
        limit = limits_in(ladder.game, text)
        if limit is not None and "search=none" not in text:
            assert limit.movetime_ms is None
            assert limit.nodes or limit.depth, text


def position(game, size, variant=None, seed=0, clock=None):
    state = get_game(game).initial_state(*[size, variant][: 2 if variant else 1])
    return Position(state, np.random.default_rng(seed), state, (), clock)


@pytest.mark.parametrize(("game", "size", "number"), [("gomoku", 9, 1), ("amazons", 6, 2)])
def test_a_level_plays_the_moves_of_its_player(game, size, number):
    (ladder,) = [one for one in ladders(game) if one.size == size]
    text = ladder.levels[number - 1].player
    level, own = make_player(game, f"level:{number}"), make_player(game, text)
    chosen = [level.think(position(game, size, seed=k)).action for k in range(6)]
    assert chosen == level.choose([position(game, size, seed=k) for k in range(6)])
    assert chosen == own.choose([position(game, size, seed=k) for k in range(6)])
    assert len(set(chosen)) > 1, "a weak level does not always play the same"
    assert levels.plays_as(game, f"level:{number}", position(game, size).state) == text
    assert levels.plays_as(game, "random", position(game, size).state) == "random"


@pytest.mark.parametrize(
    ("size", "text", "words"),
    [
        (15, "level:5", "Level 5, strong club player, about 1,500"),
        (15, "level:number=5", "Level 5, strong club player, about 1,500"),
        (15, "level:elo=1490", "Level 5, strong club player, about 1,500"),
        (15, "level:8", ""),
        (15, "random", ""),
        (11, "level:5", "Level 5, strong club player, about 1,500 on 20x20"),
        (8, "level:5", ""),
    ],
)
def test_level_from_text(size, text, words):
    assert level_words(OneBoard(size, size, "freestyle"), "gomoku", text) == words


def test_board_without_ladder_borrows_levels_of_its_rule():
    (ladder,) = [one for one in ladders("gomoku") if (one.size, one.variant) == (20, "freestyle")]
    at = position("gomoku", 13, seed=3)
    for number in (1, 4):
        assert levels.plays_as("gomoku", f"level:{number}", at.state) == ladder.levels[number - 1].player
    chosen = make_player("gomoku", "level:1").think(at).action
    assert [chosen] == make_player("gomoku", ladder.levels[0].player).choose([position("gomoku", 13, seed=3)])


@pytest.mark.parametrize("ladder", [every(ladder) for ladder in ladders() if ladder.lends])
def test_levels_that_are_lent_play_on_any_board(ladder):
    lent = {OneBoard(size, size, ladder.variant) for size in LENT}
    for text in (level.player for level in ladder.levels):
        player = build_player(ladder.game, text)
        assert not player.boards or lent <= set(player.boards), text
        player.close()


def test_amazons_levels_are_those_of_the_start_position():
    standard, cross = (
        next(one for one in ladders("amazons") if one.board == OneBoard(10, 10, variant))
        for variant in ("standard", "cross")
    )
    players = [[level.player for level in ladder.levels] for ladder in (standard, cross)]
    assert players[0] == players[1], "level:4 is one player, also where the start is not known"
    for start, ladder in (("standard", standard), ("cross", cross)):
        for level in ladder.levels:
            at = position("amazons", 10, start)
            assert levels.plays_as("amazons", f"level:elo={level.elo:.0f}", at.state) == level.player


@pytest.fixture
def ladder(monkeypatch):
    """Two levels of a player that notes its limits, on 9x9."""

    def level(text, elo):
        return Level(name=text, player=text, elo=elo, low=elo - 1, high=elo + 1, games=2, ms=1.0)

    found = Ladder(
        game="gomoku",
        size=9,
        variant="exact",
        anchor="random",
        openings="none",
        levels=(level("fake:nodes=5", 1000.0), level("fake:nodes=50,depth=4", 1400.0)),
    )
    monkeypatch.setattr(levels, "ladders", lambda _: (found,))
    return found


@pytest.mark.parametrize(
    ("text", "player"),
    [
        ("level:1", "fake:nodes=5"),
        ("level:2", "fake:nodes=50,depth=4"),
        ("level", "fake:nodes=50,depth=4"),
        ("level:elo=0", "fake:nodes=5"),
        ("level:elo=1190", "fake:nodes=5"),
        ("level:elo=1210", "fake:nodes=50,depth=4"),
    ],
)
def test_a_level_is_found_by_its_number_or_its_elo(ladder, text, player):
    assert levels.plays_as("gomoku", text, position("gomoku", 9, "exact").state) == player


@pytest.mark.parametrize(
    ("bounds", "limit"),
    [
        (Bounds(), Limit(depth=4, nodes=50)),
        (Bounds(infinite=True), Limit(depth=4, nodes=50)),
        (Bounds(movetime_ms=100.0), Limit(depth=4, nodes=50, movetime_ms=100.0)),
        (Bounds(depth=2, nodes=9), Limit(depth=2, nodes=9)),
        (Bounds(depth=9, nodes=90), Limit(depth=4, nodes=50)),
        (Bounds(lines=3), Limit(depth=4, nodes=50, lines=3)),
    ],
)
def test_no_limit_from_outside_makes_a_level_stronger(ladder, bounds, limit):
    level, at = build_player("gomoku", "level:2"), position("gomoku", 9, "exact")
    level.think(at, bounds)
    assert level.player_for(at.state).searcher.limits == [limit]


def test_a_clock_makes_no_level_stronger(ladder):
    level = build_player("gomoku", "level:2")
    at = position("gomoku", 9, "exact", clock=Clock(60_000, 60_000))
    level.choose([at])
    (limit,) = level.player_for(at.state).searcher.limits
    assert (limit.depth, limit.nodes) == (4, 50)
    assert 0 < limit.movetime_ms < 60_000


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("level:3", "no level 3 on any board; there are at most 2, on 9x9 exact"),
        ("level:0", "number must be at least 1, not 0"),
        ("level:2.5", "number must be a whole number, not 2.5"),
        ("level:club", "number='club' is not a number"),
        ("level:1,elo=1000", "takes a number or an elo, not both"),
        ("level:1,nodes=5", "has no option 'nodes'; its options: elo"),
    ],
)
def test_unknown_levels_are_refused(ladder, text, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        build_player("gomoku", text)


def test_a_board_without_levels_is_refused(ladder):
    with pytest.raises(ZugwerkError, match="no levels on 11x11 exact; there are levels on 9x9 exact; other players"):
        build_player("gomoku", "level:1").check(position("gomoku", 11, "exact").state)


def test_a_board_that_is_too_small_for_levels_is_refused():
    words = "no levels on 8x8 renju; there are levels on .*, and by the rules .*renju.* on all from 9x9 to 25x25; other"
    with pytest.raises(ZugwerkError, match=words):
        build_player("gomoku", "level:1").check(position("gomoku", 8, "renju").state)


def test_the_range_of_elo_is_that_of_all_boards():
    low, high = elo_range("amazons")
    assert low < ANCHOR_ELO < high
    assert low == round(min(one.levels[0].elo for one in ladders("amazons")))


def test_level_that_the_usual_board_lacks_is_made_for_others():
    """`make_player` does not know the board yet."""
    (usual,) = (one for one in ladders("gomoku") if (one.size, one.variant) == (15, "freestyle"))
    longer = next(one for one in ladders("gomoku") if len(one.levels) > len(usual.levels))
    player = make_player("gomoku", f"level:{len(longer.levels)}")
    player.check(position("gomoku", longer.size, longer.variant).state)
    with pytest.raises(ZugwerkError, match=f"no level {len(longer.levels)} on 15x15 freestyle; there are 1 to"):
        player.check(position("gomoku", 15).state)
