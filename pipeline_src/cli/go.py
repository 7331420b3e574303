"""``zugwerk go`` and ``zugwerk joseki``: positions of Go in records, and the library of corner moves."""

import json
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import typer

from pipeline_src.cli import games as play
from pipeline_src.cli.games import Start, add_perft
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import MARKS, decoded, read_bytes, written_aside

go_app = typer.Typer(help="Go. Example: zugwerk go show game.sgf --move 30", no_args_is_help=True)
joseki_app = typer.Typer(
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

SIZE, VARIANT = 19, "standard"


add_perft(
    go_app,
    "go",
    Start(
        typer.Option(
            None,
            "--fen",
            help="Position: ranks from the top, x black, o white, numbers empty; then b or w.",
            metavar="FEN",
        ),
        typer.Option(None, "--size", help=f"Size of the empty board, 3 to 25.  [default: {SIZE}]"),
        typer.Option(
            None, "--variant", help=f"komi-6.5, handicap-2:dp,pd, komi-0.5/handicap-2:dp,pd.  [default: {VARIANT}]"
        ),
    ),
    "3 --size 5 --divide",
    "legal moves, including passes",
)


@go_app.command(epilog="Example: zugwerk go show game.sgf --move 30")
def show(
    position: str = typer.Argument(..., help="A FEN, or an SGF record.", metavar="FEN_OR_SGF"),
    move: int | None = typer.Option(None, "--move", help="Number of plies of the record to play.  [default: all]"),
    number: int | None = play.GAME,
) -> None:
    """Print the board with coordinates, the last stone in brackets, and the state of the game."""
    from pipeline_src.games import go
    from pipeline_src.games.go import diagram, standing

    state, record = _of_record_or_fen(position, move, number)
    if record is not None and (record.first_name or record.second_name):
        typer.echo(f"x {record.first_name}, o {record.second_name}")
    typer.echo(diagram(state))
    typer.echo(standing(state))
    typer.echo(go.to_fen(state))


def _of_record_or_fen(position: str, move: int | None, number: int | None) -> tuple[Any, Any]:
    """Return the state that a FEN or an SGF record after some plies has, and the record, or None."""
    from pipeline_src.games import go
    from pipeline_src.records.go_games import read_sgf

    if not (position.lower().endswith(".sgf") or Path(position[:255]).is_file()):
        if move is not None or number is not None:
            raise ZugwerkError("--move and --game are for records; a FEN has none")
        return go.from_fen(position), None
    record = read_sgf(position, size=None, number=number).record
    plies = len(record.actions) if move is None else move
    if not 0 <= plies <= len(record.actions):
        raise ZugwerkError(f"{position}: --move must be 0 to {len(record.actions)}, not {plies}")
    return reduce(go.play, record.actions[:plies], go.initial_state(record.width, record.variant)), record


@go_app.command(epilog="Example: zugwerk go find game.sgf my_games --move 12 --area A1-K10")
def find(
    position: str = typer.Argument(
        ...,
        help="An SGF record, a FEN, or a text file with a board: . empty, x black, o white, ? what does not matter; - "
        "reads it from stdin.",
    ),
    games: Path = typer.Argument(
        ..., help="Folder of SGF files and archives (.parquet), one archive, or a tar of SGF files."
    ),
    move: int | None = typer.Option(None, "--move", help="Number of plies of the record to play.  [default: all]"),
    number: int | None = play.GAME,
    area: str | None = typer.Option(
        None, "--area", help="Part of the board to find, two of its corners: A1-K10.  [default: the whole board]"
    ),
    fixed: bool = typer.Option(
        False, "--fixed", help="Do not move a part that reaches one border along it, nor one that reaches none."
    ),
    index: Path | None = typer.Option(
        None, "--index", dir_okay=False, help="File of the index, which grows with new games.  [default: in the cache]"
    ),
    top: int = typer.Option(10, "--top", min=1, help="Number of rows to print of each table."),
    as_json: bool = play.AS_JSON,
) -> None:
    """Find a position in games, in any symmetry and in either colour: what was played, who won, in which games.

    The first search of a folder reads its games into an index; later ones read new and changed files only.
    """
    from pipeline_src.records.go_find import find as find_in
    from pipeline_src.records.go_index import default_path, update

    board, to_play = _pattern(position, move, number)
    if area is not None:
        from pipeline_src.records.go_find import part_of

        board = part_of(board, area)
    known = update(index or default_path(games), games, _tell)
    for problem in (problems := known.problems())[:3]:
        typer.echo(f"note: not read: {problem}", err=True)
    if len(problems) > 3:
        typer.echo(f"note: and {len(problems) - 3} more files with games that are not read", err=True)
    table = _rows(known, find_in(known, board, to_play, fixed), len(board), top)
    if as_json:
        typer.echo(json.dumps(table))
    else:
        _print_found(table)


def _pattern(position: str, move: int | None, number: int | None) -> tuple[Any, int]:
    """Return a board to find, and the side to move."""
    from pipeline_src.games.rules import to_play
    from pipeline_src.records.go_find import parse_pattern

    if position.lower().endswith(".sgf") or (position != "-" and not Path(position[:255]).is_file()):
        state, _ = _of_record_or_fen(position, move, number)
        return state.board, to_play(state)
    data = sys.stdin.buffer.read() if position == "-" else read_bytes(position)
    if data.lstrip(b"".join(MARKS) + b"\0 \t\r\n").startswith(b"(") and position != "-":  # a record under another name
        state, _ = _of_record_or_fen(position, move, number)
        return state.board, to_play(state)
    if move is not None or number is not None:
        raise ZugwerkError("--move and --game are for records; a board has none")
    name = "stdin" if position == "-" else position
    return parse_pattern(decoded(data, name), name), 0


def _tell(growth: Any) -> None:
    if growth.done % 1000 == 0 or growth.done == growth.files:
        gone = f", {growth.gone} files gone" if growth.gone else ""
        typer.echo(f"{growth.done} of {growth.files} new files read, {growth.games} games{gone}", err=True)


def _rows(index: Any, found: Any, size: int, top: int) -> dict[str, Any]:
    """Return the result of a search in words."""
    from pipeline_src.games import go

    def text(points: tuple[int, ...]) -> str:
        return " ".join(go.format_move(point, size, size) for point in points)

    moves = [
        {**one._asdict(), "colour": ("Black", "White")[one.colour], "points": text(one.points)}
        for one in found.continuations[:top]
    ]
    seen, rows = found.occurrences, []
    for place in range(min(top, len(seen.game))):
        where, chosen = index.where(int(seen.game[place])), int(found.chosen[place])
        rows.append(
            where._asdict()
            | {"path": str(where.path), "ply": int(seen.ply[place])}
            | {"winner": ("", "Black", "White", "draw")[where.winner]}
            | {"next": text(found.continuations[chosen].points[:1]) if chosen >= 0 else ""}
        )
    totals = ("games", "searched", "black_won", "white_won", "ended")
    return {
        **{name: getattr(found, name) for name in totals},
        "occurrences": len(seen.game),
        "continuations": moves,
        "found": rows,
    }


def _print_found(table: dict[str, Any]) -> None:
    typer.echo(
        f"{table['occurrences']} times in {table['games']} of {table['searched']} games; Black won "
        f"{table['black_won']}, White {table['white_won']}, as the position has the colours"
    )
    if table["continuations"]:
        typer.echo(f"\n{'colour':<8}{'move':<24}{'played':>8}{'Black won':>11}{'White won':>11}{'after elsewhere':>17}")
    for one in table["continuations"]:
        words = f"{one['colour']:<8}{one['points']:<24}{one['played']:>8}{one['black_won']:>11}{one['white_won']:>11}"
        typer.echo(f"{words}{one['after_elsewhere']:>17}")
    if table["found"]:
        typer.echo(f"\n{'ply':>4}  {'next':<6}{'won':<7}players, game")
    for one in table["found"]:
        players = f"{one['first_name'] or 'Black'} - {one['second_name'] or 'White'}"
        where = ", ".join(filter(None, [one["path"], one["member"]]))
        typer.echo(f"{one['ply']:>4}  {one['next']:<6}{one['winner']:<7}{players}, {where}, game {one['number']}")


# ``zugwerk joseki``: encode, recommend, show, add, merge.


@joseki_app.command(epilog='Example: zugwerk joseki encode "X 3,5 4,4 7,3 O 3,6 4,6 3,9" --json')
def encode(
    pattern: str = typer.Argument(
        ..., help="X and O, each followed by its stones as r,c: the lines from the two borders, from 1."
    ),
    as_json: bool = AsJson,
) -> None:
    """Print the pattern code and the exact key of a corner pattern."""
    from pipeline_src.systems.joseki import patterns

    window = patterns.parse_pattern(pattern)
    codes: dict[str, Any] = {}
    for name, colours in (("x", patterns.BLACK), ("o", patterns.WHITE), ("both", patterns.BOTH)):
        a, b, c = (int(factor) for factor in patterns.factors(window, colours))
        codes[name] = {"A": a, "B": b, "C": c, "K": int(patterns.colour_code(window, colours))}
    codes |= {"S": int(patterns.pattern_code(window)), "key": patterns.key_text(patterns.canonical_key(window)[0])}
    if as_json:
        typer.echo(json.dumps(codes))
        return
    typer.echo(f"{'':5}{'A':>21}{'B':>21}{'C':>4}{'K':>21}")
    for name in ("x", "o", "both"):
        row = codes[name]
        typer.echo(f"{name:5}{row['A']:>21}{row['B']:>21}{row['C']:>4}{row['K']:>21}")
    typer.echo(f"S    {codes['S']}\nkey  {codes['key']}")


@joseki_app.command(epilog="Example: zugwerk joseki recommend game.sgf --move 12 --corner top-right")
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
    from pipeline_src.systems.joseki import recommend as moves
    from pipeline_src.systems.joseki.library import load

    if corner not in ("all", *CORNERS):
        raise ZugwerkError(f"--corner {corner!r}: expected all, {', '.join(CORNERS)}")
    if top < 1:
        raise ZugwerkError(f"--top must be at least 1, not {top}")
    state, last = _position(game, move, number)
    chosen = range(len(CORNERS)) if corner == "all" else [CORNERS.index(corner)]
    known = load(library)
    _tell_of_made(known)
    found = moves.recommend(known, state, chosen)[:top]
    if svg is not None:
        with written_aside(svg) as aside:
            aside.write_text(
                moves.board_svg(state.board, [one for one in found if one.actions], last), encoding="utf-8"
            )
    rows = moves.recommendation_rows(found)
    if as_json:
        typer.echo(json.dumps(rows))
    elif not rows:
        typer.echo("no pattern of this position is in the library")
    else:
        typer.echo(f"{'':>3}  {'corner':<13}{'move':<10}{'count':>6}{'share':>8}{'won':>8}  games")
    for row in [] if as_json else rows:
        won = "-" if row["win_rate"] == "" else f"{row['win_rate']:.3f}"
        text = f"{row['rank']:>3}  {row['corner']:<13}{row['move']:<10}{row['count']:>6}{row['share']:>8.3f}{won:>8}"
        typer.echo(f"{text}  {row['games']}")


def _position(game: Path, move: int | None, number: int | None) -> tuple[Any, int]:
    """Return the state after ``move`` moves of a record's main line, and the last point played, or -1."""
    from pipeline_src.games import go
    from pipeline_src.records.go_games import read_sgf

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


@joseki_app.command("show", epilog="Example: zugwerk joseki show artifacts/models/joseki/library.joseki")
def show_library(library: Path = typer.Argument(LIBRARY, help="Library file."), as_json: bool = AsJson) -> None:
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


@joseki_app.command(epilog="Example: zugwerk joseki add whole.joseki games.parquet --out more.joseki")
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


@joseki_app.command(epilog="Example: zugwerk joseki merge a.joseki b.joseki --out both.joseki")
def merge(
    first: Path = typer.Argument(..., help="Library file, not pruned."),
    second: Path = typer.Argument(..., help="Library of other games, not pruned."),
    out: Path = Out,
) -> None:
    """Merge two libraries that count the same number of moves of a corner."""
    from pipeline_src.systems.joseki.build import merge as merged
    from pipeline_src.systems.joseki.library import load, save

    libraries = load(first), load(second)
    try:
        both = merged(*libraries)
    except ZugwerkError as error:
        raise ZugwerkError(f"{first} and {second}: {error}") from None
    save(both, out)
    typer.echo(f"{len(both.fingerprints)} games, {both.states} patterns, {both.transitions} transitions")


@joseki_app.command(epilog="Example: zugwerk joseki prune whole.joseki --fewest-games 3 --out library.joseki")
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
