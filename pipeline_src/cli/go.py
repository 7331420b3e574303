"""``zugwerk go``: perft, show, find."""

import json
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import typer

from pipeline_src.cli import games as play
from pipeline_src.cli.games import Start, add_perft

app = typer.Typer(help="Go. Example: zugwerk go show game.sgf --move 30", no_args_is_help=True)

SIZE, VARIANT = 19, "standard"


add_perft(
    app,
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


@app.command(epilog="Example: zugwerk go show game.sgf --move 30")
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
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.games import go
    from pipeline_src.records.sgf import read_sgf

    if not (position.lower().endswith(".sgf") or Path(position[:255]).is_file()):
        if move is not None or number is not None:
            raise ZugwerkError("--move and --game are for records; a FEN has none")
        return go.from_fen(position), None
    record = read_sgf(position, size=None, number=number).record
    plies = len(record.actions) if move is None else move
    if not 0 <= plies <= len(record.actions):
        raise ZugwerkError(f"{position}: --move must be 0 to {len(record.actions)}, not {plies}")
    return reduce(go.play, record.actions[:plies], go.initial_state(record.width, record.variant)), record


@app.command(epilog="Example: zugwerk go find game.sgf my_games --move 12 --area A1-K10")
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
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.files import MARKS, decoded, read_bytes
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
