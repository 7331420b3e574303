"""``zugwerk joseki``: encode, recommend, show, add, merge."""

import json
from pathlib import Path
from typing import Any

import typer

from pipeline_src.cli import games as play

app = typer.Typer(
    help='The joseki library. Example: zugwerk joseki encode "X 3,5 4,4 7,3 O 3,6 4,6 3,9"', no_args_is_help=True
)

LIBRARY = Path("artifacts/models/joseki/library.joseki")
Library = typer.Option(LIBRARY, "--library", help="Library file; `dvc repro joseki_build` makes the default one.")
AsJson = typer.Option(False, "--json", help="Print JSON.")
Out = typer.Option(..., "--out", dir_okay=False, help="File to write.")
SOURCE_WORDS = {
    "littlegolem": "crawled from the site",
    "engine": "made, played by nobody",
    "file": "from a folder or tar of SGF records",
}
"""Origin of the games of each source of `records.record`."""
CORNERS = ("top-left", "top-right", "bottom-left", "bottom-right")


@app.command(epilog='Example: zugwerk joseki encode "X 3,5 4,4 7,3 O 3,6 4,6 3,9" --json')
def encode(
    pattern: str = typer.Argument(
        ..., help="X and O, each followed by its stones as r,c: the lines from the two borders, from 1."
    ),
    as_json: bool = AsJson,
) -> None:
    """Print the pattern code and the exact key of a corner pattern."""
    from pipeline_src.systems.joseki.code import BOTH, canonical_key, colour_code, factors, key_text, pattern_code
    from pipeline_src.systems.joseki.corners import BLACK, WHITE, parse_pattern

    window = parse_pattern(pattern)
    codes: dict[str, Any] = {}
    for name, colours in (("x", BLACK), ("o", WHITE), ("both", BOTH)):
        a, b, c = (int(factor) for factor in factors(window, colours))
        codes[name] = {"A": a, "B": b, "C": c, "K": int(colour_code(window, colours))}
    codes |= {"S": int(pattern_code(window)), "key": key_text(canonical_key(window)[0])}
    if as_json:
        typer.echo(json.dumps(codes))
        return
    typer.echo(f"{'':5}{'A':>21}{'B':>21}{'C':>4}{'K':>21}")
    for name in ("x", "o", "both"):
        row = codes[name]
        typer.echo(f"{name:5}{row['A']:>21}{row['B']:>21}{row['C']:>4}{row['K']:>21}")
    typer.echo(f"S    {codes['S']}\nkey  {codes['key']}")


@app.command(epilog="Example: zugwerk joseki recommend game.sgf --move 12 --corner top-right")
def recommend(
    game: Path = typer.Argument(..., help="An SGF record on 19x19.", metavar="GAME.sgf"),
    move: int | None = typer.Option(None, "--move", help="Number of moves to play first.  [default: all]"),
    number: int | None = play.GAME,
    corner: str = typer.Option("all", "--corner", help=f"all, {', '.join(CORNERS)}."),
    library: Path = Library,
    top: int = typer.Option(10, "--top", help="Number of rows to print."),
    svg: Path | None = typer.Option(None, "--svg", dir_okay=False, help="SVG file for a picture of the board."),
    as_json: bool = AsJson,
) -> None:
    """Recommend moves for a position, with their frequency, results and sample games."""
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.files import written_aside
    from pipeline_src.report.joseki_board import board_svg, recommendation_rows
    from pipeline_src.systems.joseki.library import load
    from pipeline_src.systems.joseki.recommend import recommend as recommend_moves

    if corner not in ("all", *CORNERS):
        raise ZugwerkError(f"--corner {corner!r}: expected all, {', '.join(CORNERS)}")
    if top < 1:
        raise ZugwerkError(f"--top must be at least 1, not {top}")
    state, last = _position(game, move, number)
    chosen = range(len(CORNERS)) if corner == "all" else [CORNERS.index(corner)]
    known = load(library)
    _tell_of_made(known)
    found = recommend_moves(known, state, chosen)[:top]
    if svg is not None:
        with written_aside(svg) as aside:
            aside.write_text(board_svg(state.board, [one for one in found if one.actions], last), encoding="utf-8")
    rows = recommendation_rows(found)
    if as_json:
        typer.echo(json.dumps(rows))
    elif not rows:
        typer.echo("no pattern of this position is in the library")
    else:
        print_rows(rows)


def _position(game: Path, move: int | None, number: int | None) -> tuple[Any, int]:
    """Return the state after ``move`` moves of a record's main line, and the last point played, or -1."""
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.games import go
    from pipeline_src.records.sgf import read_sgf

    record = read_sgf(game, number=number).record
    plies = len(record.actions)
    if (record.height, record.width) != (19, 19):
        raise ZugwerkError(f"{game}: a game on {record.height}x{record.width}; joseki are of 19x19")
    if move is not None and not 0 <= move <= plies:
        raise ZugwerkError(f"--move {move}: the game has {plies} moves")
    state, last = go.initial_state(19, record.variant), -1
    for action in record.actions[: plies if move is None else move]:
        state, last = go.play(state, action), action
    return state, last


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Print the rows as a table; games are shown as number and ply."""
    typer.echo(f"{'':>3}  {'corner':<13}{'move':<10}{'count':>6}{'share':>8}{'won':>8}  games")
    for row in rows:
        won = "-" if row["win_rate"] == "" else f"{row['win_rate']:.3f}"
        text = f"{row['rank']:>3}  {row['corner']:<13}{row['move']:<10}{row['count']:>6}{row['share']:>8.3f}{won:>8}"
        typer.echo(f"{text}  {row['games']}")


@app.command(epilog="Example: zugwerk joseki show artifacts/models/joseki/library.joseki")
def show(library: Path = typer.Argument(LIBRARY, help="Library file."), as_json: bool = AsJson) -> None:
    """Print how large a library is, and where its games come from. It has no positions; `recommend` looks one up."""
    from pipeline_src.systems.joseki.library import VERSION, load

    found = load(library)
    about = {
        "version": (VERSION, "of the file's format"),
        "games": (len(found.fingerprints), "games on 19x19, of these by source:"),
        **{source: (count, SOURCE_WORDS[source]) for source, count in found.games_by_source().items()},
        "patterns": (found.states, "different corner patterns, the states of the library"),
        "transitions": (found.transitions, "different moves in these patterns"),
        "moves": (int(found.played.sum()), "moves of all games in these patterns"),
        "corner_moves": (found.moves, "moves of a corner that are counted, at most"),
        "fewest_games": (found.fewest_games, "games that a move occurs in at least; others were pruned"),
    }
    if as_json:
        typer.echo(json.dumps({"library": str(library)} | {name: value for name, (value, _) in about.items()}))
    else:
        typer.echo(f"{'library':14}{library}")
        typer.echo("\n".join(f"{name:14}{value:<10}{words}" for name, (value, words) in about.items()))
    _tell_of_made(found)


def _tell_of_made(library: Any) -> None:
    """Say on stderr which of a library's games are made, not played."""
    if made := library.games_by_source()["engine"]:
        games = len(library.fingerprints)
        typer.echo(f"note: nobody played {made} of the {games} games; joseki_records.source: made makes them", err=True)


@app.command(epilog="Example: zugwerk joseki add whole.joseki games.parquet --out more.joseki")
def add(
    library: Path = typer.Argument(..., help="Library file, not pruned."),
    games: Path = typer.Argument(..., help="Archive of records in the form of joseki_records."),
    out: Path = Out,
) -> None:
    """Add games to a library, as many moves of a corner as it counts. Games that it already has are skipped."""
    from pipeline_src.records.record import each_record
    from pipeline_src.systems.joseki.build import Builder
    from pipeline_src.systems.joseki.library import load, save

    builder = Builder(load(library))
    added = builder.add(each_record(games))
    save(builder.library(), out)
    typer.echo(f"{added.games} games added, {added.repeats} known before, {len(added.illegal)} with an illegal move")


@app.command(epilog="Example: zugwerk joseki merge a.joseki b.joseki --out both.joseki")
def merge(
    first: Path = typer.Argument(..., help="Library file, not pruned."),
    second: Path = typer.Argument(..., help="Library of other games, not pruned."),
    out: Path = Out,
) -> None:
    """Merge two libraries that count the same number of moves of a corner."""
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.systems.joseki.library import load, save
    from pipeline_src.systems.joseki.merging import merge as merged

    libraries = load(first), load(second)
    try:
        both = merged(*libraries)
    except ZugwerkError as error:
        raise ZugwerkError(f"{first} and {second}: {error}") from None
    save(both, out)
    typer.echo(f"{len(both.fingerprints)} games, {both.states} patterns, {both.transitions} transitions")


@app.command(epilog="Example: zugwerk joseki prune whole.joseki --fewest-games 3 --out library.joseki")
def prune(
    library: Path = typer.Argument(..., help="A library file."),
    fewest_games: int = typer.Option(..., "--fewest-games", min=1, help="Moves of fewer games are dropped."),
    out: Path = Out,
) -> None:
    """Drop rare moves. No games can be added to a pruned library."""
    from pipeline_src.systems.joseki.library import load, save
    from pipeline_src.systems.joseki.library import prune as pruned

    kept = pruned(load(library), fewest_games)
    save(kept, out)
    typer.echo(f"{kept.states} patterns, {kept.transitions} transitions")
