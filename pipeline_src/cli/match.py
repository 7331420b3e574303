"""``zugwerk match``: two players against each other."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import typer

if TYPE_CHECKING:
    from pipeline_src.arena.result import Match

EXAMPLE = "Example: zugwerk match amazons alphabeta uct --games 100 --movetime 1000 --out games.parquet"

LEVEL_FROM = 9
"""Smallest board of Gomoku with level openings by default; on smaller ones the first player wins from nearly all."""
FORFEITS = 6
"""Largest number of forfeits that are described below the table."""


def match(
    game: str = typer.Argument(..., help="amazons, gomoku, or another game with players."),
    a: str = typer.Argument(..., help="Player A, e.g. alphabeta:width=20 or uci:PROGRAM; scores are reported for A."),
    b: str = typer.Argument(..., help="Player B, the opponent."),
    games: int = typer.Option(100, help="Number of games, even: each opening is played twice with the sides swapped."),
    openings: str | None = typer.Option(
        None,
        help="random:PLIES, level:PLIES (Gomoku: stones near the middle that leave both sides a chance), none, or a "
        "file with an opening or FEN on each line.  [default: random:2; Gomoku level:4 from 9x9 on]",
    ),
    movetime: float | None = typer.Option(
        None, help="Milliseconds per move, for players without a limit of their own."
    ),
    nodes: int | None = typer.Option(None, help="Nodes per move, for players without a limit of their own."),
    depth: int | None = typer.Option(None, help="Depth in plies, for players without a limit of their own."),
    clock: str | None = typer.Option(None, help="Milliseconds per side and increment per move, e.g. 900000+0."),
    margin: float = typer.Option(100.0, help="Milliseconds by which a move may exceed its movetime."),
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
    from pipeline_src.arena.match import MatchSpec, journal_of, run_match, with_limits
    from pipeline_src.arena.sprt import Sprt
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.games.game import get_game
    from pipeline_src.parallel import Parallel
    from pipeline_src.project.params import build

    rules = get_game(game)
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
    spec = MatchSpec(game, one, other, games, openings, board, variant, seed, _read_clock(clock), margin)
    parallel = build(Parallel, {"workers": workers, "address": address}, "parallel", "zugwerk match")
    with _Progress(spec.pairs, f"{one} against {other}") as progress:
        found = run_match(spec, out, parallel, None if sprt is None else Sprt.parse(sprt), resume, progress.show)
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2, allow_nan=False))
    else:
        _print(found)
    if found.unwritten:
        kept = "" if out is None else f"; the finished pairs are in {journal_of(out)}"
        raise ZugwerkError(f"{len(found.games)} of {games} games played: {found.unwritten}{kept}")
    if found.mute is not None and found.status not in ("interrupted", "incomplete"):
        raise typer.Exit(1)
    if found.status in ("interrupted", "incomplete"):
        again = "; the same command goes on with the rest" if out is not None else ""
        typer.echo(f"{found.status}: {len(found.games)} of {games} games played{again}", err=True)
        raise typer.Exit(130 if found.status == "interrupted" else 1)


def _read_clock(text: str | None) -> tuple[float, float] | None:
    from pipeline_src.errors import ZugwerkError

    if text is None:
        return None
    time, _, increment = text.partition("+")
    try:
        return float(time), float(increment or 0)
    except ValueError:
        raise ZugwerkError(f"clock {text!r}: expected milliseconds and increment, e.g. 900000+0") from None


class _Progress:
    """A progress bar with the running score, in a terminal only."""

    def __init__(self, pairs: int, title: str) -> None:
        from tqdm import tqdm

        self.bar = tqdm(total=pairs, desc=title, unit="pair", disable=None)

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def show(self, so_far: "Match") -> None:
        """Update the bar."""
        if not self.bar.disable:
            standing = so_far.standing
            self.bar.update(len(so_far.pairs) - self.bar.n)
            self.bar.set_postfix_str(f"{standing.wins}-{standing.draws}-{standing.losses}")


def _print(found: "Match") -> None:
    from rich.console import Console
    from rich.table import Table

    from pipeline_src.players.errors import ErrorKind

    console, score, standing = Console(), found.score, found.standing
    (elo, low, high), sides, test = score.elo(), (found.side(0), found.side(1)), found.test
    if found.by_forfeit:
        console.print(f"decided by forfeits: {found.by_forfeit}", markup=False)
    table = Table("", "A", "B", title=f"{standing.games} games, {found.status}")
    table.add_row("player", found.a, found.b)
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
        console.print(
            f"SPRT {test.verdict}: LLR {test.llr:+.2f} ({test.low:.2f} to {test.high:.2f}), {test.pairs} pairs"
        )
