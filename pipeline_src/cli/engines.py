"""``zugwerk engines``: checks of other programs' engines."""

import json
import math
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pipeline_src.arena.conformance import Finding

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
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.parallel.tasks import nothing

    if game not in EXAMINERS:
        raise ZugwerkError(f"no protocol for engines of {game!r}; there are: {', '.join(EXAMINERS)}")
    try:
        times = [float(limit) for limit in limits.split(",")]
    except ValueError:
        times = []
    if not times or not all(0 < time < math.inf for time in times):
        raise ZugwerkError(f"limits {limits!r}: expected milliseconds above 0, e.g. 50,500,5000")
    findings = examine(EXAMINERS[game](command, times, start), nothing if as_json else _print)
    broken = sum(one.verdict == "broken" for one in findings)
    if as_json:
        typer.echo(
            json.dumps({"command": command, "broken": broken, "checks": [one._asdict() for one in findings]}, indent=2)
        )
    else:
        typer.echo(f"{len(findings)} checks, {broken} broken")
    if broken:
        raise typer.Exit(1)


def _print(finding: "Finding") -> None:
    name = typer.style(f"{finding.verdict:<7}", fg=COLOURS[finding.verdict])
    typer.echo(f"{name} {finding.check:<31} {finding.detail}")
