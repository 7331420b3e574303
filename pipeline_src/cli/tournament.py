"""``zugwerk tournament``: several players, rated against each other."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from pipeline_src.arena.result import Standing
    from pipeline_src.arena.tournament import Standings

PIPED_WIDTH = 140
"""Columns where the output goes into a file or another program."""
EXAMPLE = """FILE holds, say, {game: gomoku, games: 20, movetime: 300, openings: "random:2", format: round_robin,
players: {engine: engine, mcts: mcts, other: "brain:./pbrain-engine"}}; all keys: docs/play.md.

Example: zugwerk tournament club.yaml --out work/club --workers 2"""


def tournament(
    file: Path = typer.Argument(..., help="YAML: game, players by name, games of each two, and more."),
    out: Path | None = typer.Option(None, help="Folder of games and results; killed, the same command goes on."),
    workers: int = typer.Option(1, min=1, help="Games side by side; timed ones want a core each."),
    resume: bool = typer.Option(True, "--resume/--no-resume", help="Go on where the journal in OUT ends."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Play a round robin or a gauntlet and print the players' Elo with 95 % intervals."""
    from rich.console import Console
    from rich.live import Live

    from pipeline_src.arena.tournament import read_tournament, run_tournament
    from pipeline_src.parallel import Parallel

    wanted, console = read_tournament(file), Console()
    if not console.is_terminal:
        console = Console(width=PIPED_WIDTH)
    live = Live(console=console, transient=True, auto_refresh=False)
    with live:
        show = (lambda found: live.update(_table(found), refresh=True)) if console.is_terminal else None
        parallel = Parallel(workers=workers)
        found = run_tournament(wanted, out, parallel, resume, *([show] if show and not as_json else []))
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2, allow_nan=False))
    else:
        console.print(_table(found))
        _print_forfeits(found)
    if found.status != "finished":
        again = "; the same command goes on with the rest" if out is not None else ""
        typer.echo(f"{found.status}{again}", err=True)
        raise typer.Exit(130 if found.status == "interrupted" else 1)


def _table(found: "Standings") -> "Table":
    """Ranking, with each player's points against each of the others."""
    from rich.table import Table

    ranking, ratings, totals = found.ranking, found.ratings, found.totals
    against = {(a, b): standing for a, b, standing in found.rows}
    games = sum(len(match.pairs) for match in found.matches.values()) * 2
    table = Table("", "player", "Elo", "95 %", "score", "+ = -", *map(str, range(1, len(ranking) + 1)), "forfeits")
    table.title = f"{games} games, {found.status}"
    for place, name in enumerate(ranking, 1):
        total, rating = totals[name], ratings.get(name)
        points = [_points(against[name, other]) if other != name else "" for other in ranking]
        table.add_row(
            str(place),
            name,
            "" if rating is None else f"{rating.elo:+.0f}",
            "" if rating is None or not rating.error else f"{rating.low:+.0f} to {rating.high:+.0f}",
            _points(total),
            f"{total.wins} {total.draws} {total.losses}",
            *points,
            str(found.forfeits(name) or ""),
        )
    return table


def _points(standing: "Standing") -> str:
    return f"{standing.points:g}/{standing.games}" if standing.games else ""


def _print_forfeits(found: "Standings") -> None:
    for pair, match in found.matches.items():
        for one in match.forfeited[:2]:
            typer.echo(f"{pair[0]} - {pair[1]}: {pair[one.player]} forfeits ({one.kind}), {one.detail}")
