"""``zugwerk tournament``: several players, rated against each other."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from pipeline_src.arena.result import Standing
    from pipeline_src.arena.tournament import Standings

FORFEITS = 12
"""Largest number of forfeits that are described below the table."""
PIPED_WIDTH = 140
"""Columns of output that goes to a file or another program."""
EXAMPLE = """FILE is YAML, e.g. {game: gomoku, games: 20, movetime: 300, openings: "random:2", format: round_robin,
players: {engine: engine, mcts: mcts, other: "brain:./pbrain-engine"}}; all keys: docs/how-to/run-a-tournament.md.

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

    from pipeline_src.arena.match import journal_of
    from pipeline_src.arena.tournament import read_tournament, run_tournament
    from pipeline_src.cli.tables import print_table
    from pipeline_src.errors import ZugwerkError, line_of
    from pipeline_src.parallel import Parallel
    from pipeline_src.report.tournament_page import write_page

    wanted, console = read_tournament(file), Console()
    if not console.is_terminal:
        console = Console(width=PIPED_WIDTH)
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
        _print_tests(found)
        _print_forfeits(found)
        if out is not None and not found.unwritten:
            typer.echo(f"{out / 'index.html'}: table, forfeits and every game on a board")
    for reason in found.no_results:
        typer.echo(f"no result: {reason}", err=True)
    if found.unwritten:
        kept = "" if out is None else f"; the finished pairs are in {journal_of(out / 'games.parquet')}"
        raise ZugwerkError(f"{len(found.games)} of {found.planned} games played: {found.unwritten}{kept}")
    if found.status != "finished":
        again = "; the same command goes on with the rest" if out is not None else ""
        typer.echo(f"{found.status}{again}", err=True)
        raise typer.Exit(130 if found.status == "interrupted" else 1)
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


def _print_tests(found: "Standings") -> None:
    for (a, b), match in found.matches.items():
        if (test := match.test) is not None:
            typer.echo(
                f"SPRT {a} - {b}: {test.verdict}, LLR {test.llr:+.2f} ({test.low:.2f} to {test.high:.2f}), "
                f"{test.pairs} pairs"
            )


def _print_forfeits(found: "Standings") -> None:
    lost = found.forfeited
    for one in lost[:FORFEITS]:
        game, player, other, kind, detail = one.values()
        typer.echo(f"game {game}: {player} forfeits to {other} ({kind}), {detail}")
    if len(lost) > FORFEITS:
        typer.echo(f"and {len(lost) - FORFEITS} forfeits more; --json and the page have all")
