"""Play the ladders of `pipeline_src/players/levels.yaml`, and write the Elo of their levels into it and docs/measured.

Each level plays its neighbours on the ladder, half as many games against the next but one, and a quarter against the
ladder's anchor, in colour-swapped pairs from the ladder's openings. All players are limited by nodes or simulations, so
the figures are those of any machine; only the milliseconds of a move are of this one. Killed at any moment, the same
command continues with the missing games; it knows them by the players' texts, so remove ``work/strength/levels`` to
measure changed players again.
Example: ``python -m bench.strength.levels --only gomoku-9 --games 20``
"""

import time
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bench.measured import about, chosen, known, match_options
from pipeline_src import yaml12
from pipeline_src.arena.game import PlayedGame
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import MatchSpec
from pipeline_src.arena.result import Match, Rating, rate_players
from pipeline_src.arena.runner import Board, play_fixtures, swapped_pair
from pipeline_src.errors import run_main
from pipeline_src.files import write_json, written_aside
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel
from pipeline_src.players.packaged import ANCHOR_ELO, FILE, Ladder, ladders
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.players.searching import ByBoard

MEASURED = {"amazons": Path("docs/measured/amazons_engine.json"), "gomoku": Path("docs/measured/gomoku_engine.json")}
WORK = Path("work/strength/levels")
COMMAND = "make measure-levels"
GAMES = 40  # Games of two neighbours
TIMED = 24  # Positions of a level's own games whose moves are timed
HEAD = """\
# Opponents of measured strength, the weakest of each board first. `make measure-levels` writes elo, low, high, games,
# ms and net; the rest is written by hand: a new or changed level has any numbers until then.
"""


def main() -> None:
    """Play, and write after each ladder; ladders that are not played this time stay."""
    options = match_options(__doc__, workers=1).parse_args()
    found = {name_of(ladder): ladder for ladder in ladders(file=FILE)}
    for name in chosen(options.only, found):
        ladder = found[name]
        matches = play(ladder, options.games or GAMES, Parallel(workers=options.workers))
        rated, elo_range = rate(ladder, matches)
        print(
            name,
            *(f"\n{one.elo:6.0f} {one.low:6.0f} {one.high:6.0f} {one.player}" for one in rated.levels),
            flush=True,
        )
        write(rated, elo_range, matches)


def name_of(ladder: Ladder) -> str:
    """Return the name of a ladder in files and options, such as ``gomoku-15-freestyle``."""
    return f"{ladder.game}-{ladder.size}-{ladder.variant}"


def meetings(ladder: Ladder, games: int) -> dict[tuple[str, str], int]:
    """Return the games of each two players that meet: even numbers."""
    texts = [level.player for level in ladder.levels]
    half, quarter = max(2, games // 4 * 2), max(2, games // 8 * 2)
    found = {(b, a): games for a, b in pairwise(texts)} | {(b, a): half for a, b in zip(texts, texts[2:], strict=False)}
    met = {*found, *((b, a) for a, b in found), (ladder.anchor, ladder.anchor)}
    return found | {(text, ladder.anchor): quarter for text in texts if (text, ladder.anchor) not in met}


def play(ladder: Ladder, games: int, parallel: Parallel) -> list[Match]:
    """Play all meetings of a ladder, or those that its journal lacks."""
    matches = []
    with Journal(WORK / f"{name_of(ladder)}.journal.jsonl", {"ladder": name_of(ladder)}) as journal:
        for (a, b), count in meetings(ladder, games).items():
            spec = MatchSpec(ladder.game, a, b, count, ladder.openings, ladder.size, ladder.variant)
            pairs = [swapped_pair(a, b, one.actions, (1, k), one.start) for k, one in enumerate(spec.read_openings())]
            fixtures = [game for pair in pairs for game in pair]
            board = Board(ladder.game, ladder.size, ladder.variant)
            matches.append(Match.of(a, b, play_fixtures(board, fixtures, parallel, journal)))
    return matches


def rate(ladder: Ladder, matches: list[Match]) -> tuple[Ladder, Rating]:
    """Return the ladder with its levels' Elo, and the Elo between its weakest and its strongest level."""
    results = [match.standing.result(match.a, match.b) for match in matches]
    ratings = rate_players(results, ladder.anchor)
    levels = []
    for level in ladder.levels:
        one = ratings[level.player]
        games = [game for match in matches if level.player in (match.a, match.b) for game in match.games]
        elo, low, high = (float(round(ANCHOR_ELO + value)) for value in (one.elo, one.low, one.high))
        ms = milliseconds(ladder, level.player, games)
        figures = {"elo": elo, "low": low, "high": high, "games": one.games, "ms": ms}
        levels.append(level.model_copy(update=figures | {"net": net_digest(ladder, level.player)}))
    last = rate_players(results, ladder.levels[0].player)[ladder.levels[-1].player]
    return ladder.model_copy(update={"levels": tuple(levels)}), last


def net_digest(ladder: Ladder, text: str) -> str | None:
    """Return the digest of the packaged net with which a player plays on a ladder's board, None without one."""
    player = make_player(ladder.game, text)
    net = (
        player.net_for(Board(ladder.game, ladder.size, ladder.variant).start()) if isinstance(player, ByBoard) else None
    )
    return None if net is None else str(net.card.sha256)


def milliseconds(ladder: Ladder, text: str, games: list[PlayedGame]) -> float:
    """Return the mean milliseconds of CPU time of a player's moves, in the middle of some of its games."""
    rules, start = get_game(ladder.game), Board(ladder.game, ladder.size, ladder.variant).start()
    player, spent = make_player(ladder.game, text), 0.0
    player.ready(start)
    for k, game in enumerate(games[:TIMED]):
        actions = game.actions[: len(game.actions) // 2]
        state = reduce(rules.play, actions, start)
        player.new_game()
        begun = time.process_time()
        player.think(Position(state, np.random.default_rng(k), start, actions))
        spent += time.process_time() - begun
    player.close()
    return float(f"{1000 * spent / TIMED:.2g}")


def write(rated: Ladder, elo_range: Rating, matches: list[Match]) -> None:
    """Put a ladder into the package's table, and its range and meetings into the committed measurements."""
    name, path = name_of(rated), MEASURED[rated.game]
    every = [rated if name_of(one) == name else one for one in ladders(file=FILE)]
    ladders.cache_clear()
    rows = {"ladders": [one.model_dump(mode="json", exclude_none=True) for one in every]}
    with written_aside(FILE) as aside:
        aside.write_text(HEAD + yaml12.dump(rows, width=120), encoding="utf-8")
    made = known(path)
    figure = elo_range.as_metrics() | about(COMMAND, "its own games")
    meetings = {"levels": made.get("levels", {}) | {name: [meeting(match) for match in matches]}}
    write_json(path, made | {f"levels_{rated.size}_{rated.variant}": figure} | meetings)


def meeting(match: Match) -> dict[str, Any]:
    """Return players, result and score of a meeting."""
    one = match.standing
    row = {"a": match.a, "b": match.b, "wins": one.wins, "draws": one.draws, "losses": one.losses}
    return row | {"score": match.score.as_metrics()}


if __name__ == "__main__":
    run_main(main)
