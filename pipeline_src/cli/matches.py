"""``zugwerk match``, ``tournament``, ``players``, ``levels`` and ``engines``: who plays, and how well."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import typer

from pipeline_src import processes
from pipeline_src.cli.tables import print_table
from pipeline_src.errors import ZugwerkError, line_of
from pipeline_src.games.game import load_game

if TYPE_CHECKING:
    from rich.table import Table

    from pipeline_src.arena.conformance import Finding
    from pipeline_src.arena.match import Standings
    from pipeline_src.arena.result import Match, SprtFigures, Standing


MATCH_EXAMPLE = "Example: zugwerk match amazons alphabeta uct --games 100 --movetime 1000 --out games.parquet"

LEVEL_FROM = 9
"""Smallest board of Gomoku with level openings by default; on smaller ones the first player wins from nearly all."""
FORFEITS = 6  # Largest number of forfeits that are described below the table


def match(
    game: str = typer.Argument(..., help="amazons, gomoku, or another game with players."),
    a: str = typer.Argument(..., help="Player A, e.g. alphabeta:width=20 or uci:PROGRAM; scores are reported for A."),
    b: str = typer.Argument(..., help="Player B, the opponent."),
    games: int = typer.Option(100, help="Number of games, even: each opening is played twice with the sides swapped."),
    openings: str | None = typer.Option(
        None,
        help="random:PLIES, level:PLIES (those that a short search calls level; of Gomoku near the middle), none, or a "
        "file with an opening or FEN on each line.  [default: random:2; Gomoku level:4 from 9x9 on]",
    ),
    movetime: float | None = typer.Option(
        None, help="Milliseconds per move, for players without a limit of their own."
    ),
    nodes: int | None = typer.Option(None, help="Nodes per move, for players without a limit of their own."),
    depth: int | None = typer.Option(None, help="Depth in plies, for players without a limit of their own."),
    clock: str | None = typer.Option(None, help="Milliseconds per side and increment per move, e.g. 900000+0."),
    margin: float = typer.Option(100.0, help="Milliseconds by which a move may exceed its movetime."),
    cpu_time: bool = typer.Option(
        False,
        "--cpu-time",
        help="All times are CPU times of the players' processes, for busy machines.",
    ),
    size: int | None = typer.Option(
        None, help="Size of the board: Amazons 10, 8 or 6; Gomoku 3 to 25.  [default: 10; Gomoku 15]"
    ),
    variant: str | None = typer.Option(None, help="Variant of the game, e.g. exact or freestyle-4."),
    seed: int = typer.Option(1, help="Seed of openings and players."),
    workers: int = typer.Option(1, min=1, help="Pairs of games played side by side; timed games need a core each."),
    address: str = typer.Option("", help="Address of a Dask scheduler. All workers of its cluster play."),
    sprt: str | None = typer.Option(
        None, help="elo0,elo1[,alpha,beta]: stop when the sequential test accepts a hypothesis."
    ),
    out: Path | None = typer.Option(
        None, help="Parquet file for the games. The same command continues a killed match."
    ),
    resume: bool = typer.Option(True, "--resume/--no-resume", help="Continue from the journal beside OUT."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Play A against B and print A's score with its 95 % interval."""
    from tqdm import tqdm

    from pipeline_src.arena.match import MatchSpec, run_match, with_limits
    from pipeline_src.arena.result import Sprt
    from pipeline_src.parallel import Parallel
    from pipeline_src.players.player import PlayerText
    from pipeline_src.project.params import build

    rules = load_game(game)
    limits = {"movetime": movetime, "nodes": nodes, "depth": depth}
    given = [f"--{name}" for name, value in limits.items() if value is not None]
    for name, value in limits.items():
        if value is not None and not 0 < value < math.inf:
            raise ZugwerkError(f"--{name} must be above 0, not {value}")
    if given and clock is not None:
        raise ZugwerkError(f"{' and '.join(given)}: on a clock players divide their time; leave it out, or --clock")
    one, other = (with_limits(game, text, limits, clock is not None) for text in (a, b))
    if given and (one, other) == (a, b):
        raise ZugwerkError(f"{' and '.join(given)}: both players have limits of their own or take none; leave it out")
    board = max(rules.initial_state().board.shape) if size is None else size
    if openings is None:
        openings = "level:4" if game == "gomoku" and board >= LEVEL_FROM else "random:2"
    spec = MatchSpec(game, one, other, games, openings, board, variant, seed, _read_clock(clock), margin, cpu_time)
    parallel = build(Parallel, {"workers": workers, "address": address}, "parallel", "zugwerk match")
    processes.watch(*processes.ENDS)
    with tqdm(
        total=spec.pairs,
        desc=f"{PlayerText.parse(one).label} against {PlayerText.parse(other).label}",
        unit="pair",
        disable=None,
    ) as bar:  # in a terminal only

        def show(so_far: "Match") -> None:
            if not bar.disable:
                standing = so_far.standing
                bar.update(len(so_far.pairs) - bar.n)
                bar.set_postfix_str(f"{standing.wins}-{standing.draws}-{standing.losses}")

        found = run_match(spec, out, parallel, None if sprt is None else Sprt.parse(sprt), resume, show)
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2, allow_nan=False))
    else:
        _print(found)
    _end(found, games, out)
    if found.mute is not None:
        raise typer.Exit(1)


def _end(found: "Match | Standings", planned: int, games: Path | None) -> None:
    """End the command with an error if a file is missing, and with a word about the rest if games are."""
    from pipeline_src.arena.match import journal_of

    if found.unwritten:
        kept = "" if games is None else f"; the finished pairs are in {journal_of(games)}"
        raise ZugwerkError(f"{len(found.games)} of {planned} games played: {found.unwritten}{kept}")
    if found.status in ("interrupted", "incomplete"):
        again = "; the same command goes on with the rest" if games is not None else ""
        played = f"{len(found.games)} of {planned} games played"
        typer.echo(f"{found.status}{processes.by()}: {played}{again}", err=True)
        raise typer.Exit(processes.status() if found.status == "interrupted" else 1)


def _read_clock(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    time, _, increment = text.partition("+")
    try:
        return float(time), float(increment or 0)
    except ValueError:
        raise ZugwerkError(f"clock {text!r}: expected milliseconds and increment, e.g. 900000+0") from None


def _print(found: "Match") -> None:
    from rich.console import Console
    from rich.table import Table

    from pipeline_src.players.player import ErrorKind, PlayerText

    console, score, standing = Console(), found.score, found.standing
    (elo, low, high), sides, test = score.elo(), (found.side(0), found.side(1)), found.test
    if found.by_forfeit:
        console.print(f"decided by forfeits: {found.by_forfeit}", markup=False)
    table = Table("", "A", "B", title=f"{standing.games} games, {found.status}")
    table.add_row("player", *(PlayerText.parse(text).label for text in (found.a, found.b)))
    table.add_row("won", str(standing.wins), str(standing.losses))
    if standing.draws:
        table.add_row("drawn", str(standing.draws), str(standing.draws))
    for name in get_args(ErrorKind):
        counts = [side.forfeits.get(name, 0) for side in sides]
        if any(counts):
            table.add_row(f"forfeits: {name}", *map(str, counts))
    table.add_row("ms a move", *(f"{side.mean_ms:,.1f}" for side in sides))
    table.add_row("ms at most", *(f"{side.max_ms:,.1f}" for side in sides))
    table.add_row("ms, first move, at most", *(f"{side.first_max_ms:,.1f}" for side in sides))
    table.add_row("moves a game", *(f"{side.moves_per_game:.1f}" for side in sides))
    console.print(table)
    if found.no_result:
        console.print(f"no result: {found.no_result}", markup=False)
    else:
        console.print(f"score {score.value:.1%} ({score.low:.1%} to {score.high:.1%})")
        console.print(f"Elo {elo:+.0f} ({low:+.0f} to {high:+.0f})")
    console.print(f"pairs by points 0, 0.5, 1, 1.5, 2: {', '.join(map(str, found.pentanomial))}")
    console.print(f"plies a game {found.plies_per_game:.1f}, to who moved first {found.first_side_score:.1%}")
    for one in found.forfeited[:FORFEITS]:
        console.print(f"game {one.game}: {'AB'[one.player]} forfeits ({one.kind}), {one.detail}", markup=False)
    if len(found.forfeited) > FORFEITS:
        console.print(f"and {len(found.forfeited) - FORFEITS} forfeits more; --json has all")
    if test is not None:
        console.print(f"SPRT {test.verdict}: {_test_words(test)}")


def _test_words(test: "SprtFigures") -> str:
    return f"LLR {test.llr:+.2f} ({test.low:.2f} to {test.high:.2f}), {test.pairs} pairs"


# ``zugwerk tournament``: several players, rated against each other.


TOURNAMENT_FORFEITS = 12  # Largest number of forfeits that are described below the table
PIPED_WIDTH = 140  # Columns of output that goes to a file or another program
TOURNAMENT_EXAMPLE = """FILE is YAML, e.g. {game: gomoku, games: 20, movetime: 300, openings: "random:2",
format: round_robin, players: {engine: engine, mcts: mcts, other: "brain:./pbrain-engine"}};
all keys: docs/how-to/run-a-tournament.md.

Example: zugwerk tournament club.yaml --out work/club --workers 2"""


def tournament(
    file: Path = typer.Argument(
        ..., help="YAML file with the game, the players by name, the games of each meeting, and more."
    ),
    out: Path | None = typer.Option(
        None,
        file_okay=False,
        help="Folder for games, results and the page. The same command continues a killed tournament.",
    ),
    workers: int = typer.Option(1, min=1, help="Pairs of games played side by side; timed games need a core each."),
    resume: bool = typer.Option(True, "--resume/--no-resume", help="Continue from the journal in OUT."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Play a round robin or a gauntlet and print the players' Elo with 95 % intervals."""
    from rich.console import Console
    from rich.live import Live

    from pipeline_src.arena.match import read_tournament, run_tournament
    from pipeline_src.parallel import Parallel
    from pipeline_src.report.tournament_page import write_page

    wanted, console = read_tournament(file), Console()
    if not console.is_terminal:
        console = Console(width=PIPED_WIDTH)
    processes.watch(*processes.ENDS)
    live = Live(console=console, transient=True, auto_refresh=False, redirect_stdout=False)
    with live:
        show = (lambda found: live.update(_table(found, "playing"), refresh=True)) if console.is_terminal else None
        parallel = Parallel(workers=workers)
        found = run_tournament(wanted, out, parallel, resume, *([show] if show and not as_json else []))
    if out is not None and not found.unwritten:
        try:
            write_page(found, wanted, out / "index.html")
        except OSError as error:
            found.unwritten = line_of(error)
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2, allow_nan=False))
    else:
        print_table(console, _table(found, found.status))
        for (a, b), meeting in found.matches.items():
            if (test := meeting.test) is not None:
                typer.echo(f"SPRT {a} - {b}: {test.verdict}, {_test_words(test)}")
        for one in found.forfeited[:TOURNAMENT_FORFEITS]:
            number, player, other, kind, detail = one.values()
            typer.echo(f"game {number}: {player} forfeits to {other} ({kind}), {detail}")
        if len(found.forfeited) > TOURNAMENT_FORFEITS:
            more = len(found.forfeited) - TOURNAMENT_FORFEITS
            typer.echo(f"and {more} forfeits more; --json and the page have all")
        if out is not None and not found.unwritten:
            typer.echo(f"{out / 'index.html'}: table, forfeits and every game on a board")
    for reason in found.no_results:
        typer.echo(f"no result: {reason}", err=True)
    _end(found, found.planned, None if out is None else out / "games.parquet")
    if found.no_results:
        raise typer.Exit(1)


def _table(found: "Standings", status: str) -> "Table":
    """Return the ranking with the points of each player against each of the others."""
    from rich.table import Column, Table

    ranking, ratings, totals = found.ranking, found.ratings, found.totals
    against = {(a, b): standing for a, b, standing in found.rows}
    heads = ("", "player", "Elo", "95 %", "score", "+ = -", *map(str, range(1, len(ranking) + 1)), "forfeits")
    table = Table(*(Column(head, no_wrap=True) for head in heads))
    played = len(found.games)
    table.title = f"{played}{'' if status == 'finished' else f' of {found.planned}'} games, {status}"
    for place, name in enumerate(ranking, 1):
        total, rating = totals[name], ratings.get(name)
        points = [_points(against[name, other]) if other != name else "" for other in ranking]
        table.add_row(
            str(place),
            name,
            "" if rating is None else f"{round(rating.elo):+d}",
            "" if rating is None or not rating.error else f"{rating.low:+.0f} to {rating.high:+.0f}",
            _points(total),
            f"{total.wins} {total.draws} {total.losses}",
            *points,
            str(found.forfeits(name) or ""),
        )
    return table


def _points(standing: "Standing") -> str:
    return f"{standing.points:g}/{standing.games}" if standing.games else ""


# ``zugwerk players`` and ``zugwerk levels``.


def players(
    game: str | None = typer.Argument(None, help="Game, e.g. amazons.  [default: all]"),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of text."),
) -> None:
    """List the players, with an example and the types, bounds and defaults of their options.

    In a player's text, a comma within double quotes divides nothing: 'nets:"runs/a,b.pt",temperature=1'.

    Example: zugwerk players gomoku
    """
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from pipeline_src.players.registry import listed

    found = listed(game)
    if as_json:
        rows = [one._asdict() | {"options": [option._asdict() for option in one.options]} for one in found]
        typer.echo(json.dumps(rows, indent=2))
        return
    console = Console(highlight=False)
    for one in found:
        console.print(Text(f"{one.game}: {one.title}", style="bold"))
        console.print(Text(one.meaning))
        console.print(Text(one.example, style="cyan"))
        grid = Table.grid(padding=(0, 2))
        for option in one.options:
            default = f"{option.type}; default {option.default}" if option.default else option.type
            names = f"{option.name}, {option.also}" if option.also else option.name
            grid.add_row(Text(names, no_wrap=True), Text(default), Text(option.meaning))
        console.print(Padding(grid, (0, 0, 1, 2)) if one.options else "")


def levels(
    game: str | None = typer.Argument(None, help="amazons or gomoku.  [default: both]"),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of tables."),
) -> None:
    """List the opponents of measured strength on each board. `--level N` and the player `level:N` play with them.

    Example: zugwerk levels gomoku
    """
    from rich.console import Console
    from rich.table import Column, Table

    from pipeline_src.players.packaged import ANCHOR_ELO, LENT, ladders
    from pipeline_src.players.player import board_words

    found = ladders(game)
    if not found:
        there = ", ".join(dict.fromkeys(ladder.game for ladder in ladders()))
        raise ZugwerkError(f"no levels of {game!r}; there are those of: {there}")
    if as_json:
        rows = [ladder.model_dump(mode="json") for ladder in found]
        for ladder, row in zip(found, rows, strict=True):
            for one, level in zip(ladder.levels, row["levels"], strict=True):
                level |= {} if one.measured else dict.fromkeys(("elo", "low", "high", "games", "ms"))
        typer.echo(json.dumps(rows, indent=2))
        return
    for ladder in found:
        right = [Column(head, justify="right", no_wrap=True) for head in ("Elo", "95 %", "games", "ms a move")]
        table = Table(Column("level"), Column("name", no_wrap=True), *right, Column("player", no_wrap=True))
        table.title = f"{ladder.game}, {board_words(ladder.board)}: Elo {ANCHOR_ELO:,} is {ladder.anchor}"
        if ladder.lends:
            table.caption = f"Also on {ladder.variant} boards without levels of their own, {LENT[0]}x{LENT[0]} to "
            table.caption += f"{LENT[-1]}x{LENT[-1]}, where their Elo is not measured."
        for number, one in enumerate(ladder.levels, 1):
            figures = (f"{one.elo:.0f}", f"{one.low:.0f} to {one.high:.0f}", f"{one.games}", f"{one.ms:g}")
            about = figures if one.measured else ("not measured", "-", "-", "-")
            table.add_row(str(number), one.name, *about, one.player)
        print_table(Console(), table)


# ``zugwerk engines``: checks of other programs' engines.


app = typer.Typer(help="Check engines of other authors. Example: zugwerk engines check ./engine", no_args_is_help=True)

COLOURS = {"good": "green", "note": "yellow", "broken": "red"}


@app.callback()
def _group() -> None:
    """Check engines of other authors."""


@app.command(epilog="Example: zugwerk engines check './pbrain-engine --quiet' --game gomoku --json")
def check(
    command: str = typer.Argument(
        ...,
        metavar="CMD",
        help="Command line that starts the engine, with options as in a player's text: CMD,option.NAME=VALUE.",
    ),
    game: str = typer.Option("gomoku", help="Game of the engine: gomoku (Gomocup protocol) or amazons (UCI)."),
    limits: str = typer.Option("50,500,5000", help="Limits to check, in milliseconds per move."),
    start: float = typer.Option(
        300_000.0, min=1.0, max=1e9, help="Milliseconds that the engine has to become ready before it counts as hung."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Check an engine: start, limits, boards and rules, whole games, exit; for UCI, the variants of `go`.

    `option.NAME=VALUE` after the command line sets an option of a UCI engine, `info.NAME=VALUE` adds an INFO line.

    The exit status is 1 if a check is broken.
    """
    from pipeline_src.arena.conformance import EXAMINERS, examine
    from pipeline_src.parallel.tasks import nothing

    if game not in EXAMINERS:
        raise ZugwerkError(f"no protocol for engines of {game!r}; there are: {', '.join(EXAMINERS)}")
    try:
        times = [float(limit) for limit in limits.split(",")]
    except ValueError:
        times = []
    if not times or not all(0 < time < math.inf for time in times):
        raise ZugwerkError(f"limits {limits!r}: expected milliseconds above 0, e.g. 50,500,5000")
    findings = examine(EXAMINERS[game](command, times, start), nothing if as_json else _print_finding)
    broken = sum(one.verdict == "broken" for one in findings)
    if as_json:
        typer.echo(
            json.dumps({"command": command, "broken": broken, "checks": [one._asdict() for one in findings]}, indent=2)
        )
    else:
        typer.echo(f"{len(findings)} checks, {broken} broken")
    if broken:
        raise typer.Exit(1)


def _print_finding(finding: "Finding") -> None:
    name = typer.style(f"{finding.verdict:<7}", fg=COLOURS[finding.verdict])
    typer.echo(f"{name} {finding.check:<31} {finding.detail}")
