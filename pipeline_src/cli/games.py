"""``zugwerk GAME``: commands of every game, and those that the Amazons and Gomoku have besides."""

import contextlib
import json
import os
import shutil
import sys
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import typer

from pipeline_src.cli.tables import board_text
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.games.game import get_game

DEPTH = typer.Argument(..., help="Depth in plies.")
DIVIDE = typer.Option(False, "--divide", help="Also print the count after each first turn.")
GAME = typer.Option(None, "--game", help="Number of the game in an SGF file with several games.")
AS_JSON = typer.Option(False, "--json", help="Print JSON with unrounded numbers.")


def print_perft(game: str, state: Any, depth: int, divide: bool) -> None:
    """Print the number of sequences of ``depth`` turns; with ``divide``, first those after each turn."""
    rules = get_game(game)
    if not divide:
        typer.echo(rules.perft(state, depth))
        return
    counts = rules.divide(state, depth)
    for action, count in counts.items():
        typer.echo(f"{rules.format_move(action, *state.board.shape)}: {count}")
    typer.echo(sum(counts.values()))


def print_move(game: str, state: Any, player: str, as_json: bool) -> None:
    """Print a player's turn and the result of its search (`ZugwerkError`: no such player, or the game is over)."""
    import numpy as np

    from pipeline_src.players.player import Position
    from pipeline_src.players.registry import make_player

    rules = get_game(game)
    if rules.winner(state) is not None:
        raise ZugwerkError("the game is over: the side to move has no turn")
    chosen = make_player(game, player)
    try:
        thought = chosen.think(Position(state, np.random.default_rng(0), state))
    finally:
        chosen.close()
    text, found = rules.format_move(thought.action, *state.board.shape), thought.found
    if found is None:
        typer.echo(json.dumps({"move": text}) if as_json else text)
        return
    pv = [rules.format_move(one, *state.board.shape) for one in found.pv]
    if as_json:
        figures = {"value": found.value, "depth": found.depth, "nodes": found.nodes, "seconds": found.seconds}
        typer.echo(json.dumps({"move": text, **figures, "pv": pv}))
        return
    typer.echo(f"{text}  value {found.value:+.2f}, depth {found.depth}, {found.nodes:,} nodes, {found.seconds:.2f} s")
    typer.echo("pv " + " ".join(pv))


class Start(NamedTuple):
    """Options that set the position of a command."""

    fen: Any = typer.Option(
        None, "--fen", help="Position, in the form that `show` prints on the last line.", metavar="FEN"
    )
    size: Any = typer.Option(None, "--size", help="Size of the board.")
    variant: Any = typer.Option(None, "--variant", help="Variant of the rules.")


def commands(game: str) -> typer.Typer:
    """Return the group of commands of a game."""
    app = typer.Typer(help=f"The game {game}. Example: zugwerk {game} perft 3", no_args_is_help=True)
    start = Start()
    add_perft(app, game, start, "3 --divide")
    add_move(app, game, start, "--player random")

    @app.command(epilog=f"Example: zugwerk {game} show --size 7")
    def show(fen: str | None = start.fen, size: int | None = start.size, variant: str | None = start.variant) -> None:
        """Print the board, with its FEN on the last line."""
        state = position(game, fen, size, variant)
        typer.echo(board_text(game, state, None).plain)
        typer.echo(get_game(game).to_fen(state))

    return app


def position(game: str, fen: str | None, size: int | None, variant: str | None) -> Any:
    """Return the position of a FEN, or the start of a size and variant (`ZugwerkError`: a bad one, or both given)."""
    rules = get_game(game)
    given: dict[str, Any] = {"size": size, "variant": variant}
    given = {name: value for name, value in given.items() if value is not None}
    if fen is not None and given:
        raise ZugwerkError(f"--fen contains size and variant; remove --{' and --'.join(given)}")
    return rules.initial_state(**given) if fen is None else rules.from_fen(fen)


def add_perft(app: typer.Typer, game: str, start: Start, example: str, moves: str = "legal moves") -> None:
    """Add the command ``perft``; ``moves`` says what it counts."""

    @app.command(
        help=f"Count the sequences of DEPTH {moves}. The last line has the count.",
        epilog=f"Example: zugwerk {game} perft {example}",
    )
    def perft(
        depth: int = DEPTH,
        fen: str | None = start.fen,
        size: int | None = start.size,
        variant: str | None = start.variant,
        divide: bool = DIVIDE,
    ) -> None:
        print_perft(game, position(game, fen, size, variant), depth, divide)


def add_move(app: typer.Typer, game: str, start: Start, example: str, players: str = "Any player of the game.") -> None:
    """Add the command ``move``; ``players`` describes its players."""

    @app.command(epilog=f"Example: zugwerk {game} move {example}")
    def move(
        player: str = typer.Option(..., "--player", help=players),
        fen: str | None = start.fen,
        size: int | None = start.size,
        variant: str | None = start.variant,
        as_json: bool = AS_JSON,
    ) -> None:
        """Print a player's move and the result of its search."""
        print_move(game, position(game, fen, size, variant), player, as_json)


CHECK_EXAMPLE = "Example: zugwerk check my_game.py"


def check(
    game: str = typer.Argument(..., help="File of a game's rules, my_game.py, or the name of a packaged game."),
    seconds: float = typer.Option(5.0, min=0.0, help="Time for random games, besides that to compile the kernels."),
) -> None:
    """Test the rules of a game in one file on random games, before anything learns from them.

    The first broken promise is shown with its position: legal moves and play disagree, a move is not taken back
    without a trace, equal positions have two hashes, a game does not end, a declared symmetry is none, and others.
    """
    from pipeline_src.games.check import check
    from pipeline_src.games.game import load_game

    for found in check(load_game(game), seconds):
        count, (height, width) = len(found.plies), found.board
        ends = ", ".join(f"{name} {number / count:.0%}" for name, number in sorted(found.winners.items()))
        mean = sum(found.plies) / count
        lengths = f"{min(found.plies)} to {max(found.plies)} plies, {mean:.0f} on average"
        typer.echo(f"{height}x{width}: {count} random games of {lengths}; {ends}")
    typer.echo("no fault found")


# ``zugwerk amazons``: perft, features, move, uci.

amazons_app = typer.Typer(help="The Game of the Amazons. Example: zugwerk amazons perft 2", no_args_is_help=True)

FEN_HELP = "Position: ranks from the top, Q white, q black, * arrow, numbers empty; then w or b, as in UCI."
AmazonsFen = typer.Option(None, "--fen", help=FEN_HELP, metavar="FEN")


@amazons_app.command(epilog="Example: zugwerk amazons perft 2 --divide")
def perft(depth: int = DEPTH, fen: str | None = AmazonsFen, divide: bool = DIVIDE) -> None:
    """Count the sequences of DEPTH legal turns. The last line has the count."""
    print_perft("amazons", position("amazons", fen, None, None), depth, divide)


@amazons_app.command(epilog='Example: zugwerk amazons features --fen "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w"')
def features(fen: str | None = AmazonsFen) -> None:
    """Print the patent's position features F as JSON: a 10x10 table for each amazon of the side to move."""
    from pipeline_src.games.amazons import STANDARD
    from pipeline_src.systems.amazons_net.encode import describe_features

    typer.echo(json.dumps(describe_features(STANDARD if fen is None else fen)))


@amazons_app.command(epilog="Example: zugwerk amazons move --player alphabeta:movetime=1000 --json")
def move(
    fen: str | None = AmazonsFen,
    model: Path | None = typer.Option(
        None, "--model", help="File of trained nets.  [default: the net that comes with the package]"
    ),
    player: str | None = typer.Option(None, "--player", help="Another player to ask, e.g. alphabeta:movetime=1000."),
    as_json: bool = AS_JSON,
) -> None:
    """Print the turn of Amazons-Net with its win rate, or the turn of another player."""
    state = position("amazons", fen, None, None)
    if player is not None:
        if model is not None:
            raise ZugwerkError(f"--model is for the nets without --player; name it in the player: {player}:{model}")
        print_move("amazons", state, player, as_json)
        return
    from pipeline_src.games import amazons
    from pipeline_src.systems.amazons_net.players import nets_for

    turn = nets_for(state, "" if model is None else str(model)).turns([state])[0]
    text = amazons.format_move(turn.action, *state.board.shape)
    if as_json:
        rates = {"win_rate": turn.win_rate, "win_rate_move_net": turn.win_rate_move_net}
        typer.echo(json.dumps({"move": text, **rates}))
        return
    typer.echo(f"{text}  win rate {turn.win_rate:.1%} (Move-Net, before the move: {turn.win_rate_move_net:.1%})")


@amazons_app.command(epilog="Example: zugwerk amazons uci --player alphabeta")
def uci(
    player: str | None = typer.Option(
        None, "--player", help="Player, e.g. alphabeta, the stronger one on 6x6; setoption changes it.  [default: puct]"
    ),
) -> None:
    """Run as a UCI engine on stdin and stdout; `quit` ends it."""
    from pipeline_src.players.uci import DEFAULT_PLAYER, Session

    _serve(lambda write: Session("amazons", player or DEFAULT_PLAYER, write))


def _serve(begin: Any) -> None:
    """Hold a conversation on stdin and stdout."""
    from pipeline_src.players.session import converse

    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        converse(begin, sys.stdin.buffer, sys.stdout.buffer, lambda: os._exit(1))
    os._exit(0)  # at once, even if a search still runs in its thread


# ``zugwerk gomoku``: perft, move, show, solve, openings, brain, generations.

gomoku_app = typer.Typer(help="Gomoku. Example: zugwerk gomoku perft 2 --size 9", no_args_is_help=True)

SIZE, VARIANT = 15, "freestyle"
MOST = 99  # Largest number of generations of self-play
GomokuFen = typer.Option(
    None, "--fen", help="Position: ranks from the top, x black, o white, numbers empty; then b or w.", metavar="FEN"
)
Size = typer.Option(None, "--size", help=f"Size of the empty board, 3 to 25.  [default: {SIZE}]")
Variant = typer.Option(
    None, "--variant", help=f"freestyle, exact, renju or caro; freestyle-4: lines of four.  [default: {VARIANT}]"
)


add_perft(gomoku_app, "gomoku", Start(GomokuFen, Size, Variant), "3 --size 9 --divide")
add_move(
    gomoku_app,
    "gomoku",
    Start(GomokuFen, Size, Variant),
    '--player mcts:playouts=1000 --fen "5/5/2x2/5/5 w freestyle-4"',
    "Any player of the game, e.g. alphabeta:depth=4 or zero:MODEL.",
)


@gomoku_app.command(epilog='Example: zugwerk gomoku show "3/1x1/3 w freestyle-3"')
def show(
    position: str | None = typer.Argument(None, help="A FEN, or a record (.psq or .sgf).", metavar="FEN_OR_FILE"),
    fen: str | None = GomokuFen,
    variant: str | None = typer.Option(
        None, "--variant", help=f"Variant of a .psq record that names none.  [default: {VARIANT}]"
    ),
    number: int | None = GAME,
) -> None:
    """Print the board with coordinates, the last stone in brackets, and the state of the game."""
    from pipeline_src.games import gomoku
    from pipeline_src.games.gomoku import diagram, standing
    from pipeline_src.records.psq import read_psq

    given = [text for text in (position, fen) if text is not None]
    if len(given) != 1:
        raise ZugwerkError("name one position: a FEN, a record (.psq or .sgf), or --fen FEN")
    (text,) = given
    is_sgf = fen is None and text.lower().endswith(".sgf")
    if not is_sgf and number is not None:
        raise ZugwerkError("--game is for SGF records, which may be several in a file")
    if fen is not None or not (is_sgf or text.lower().endswith(".psq") or Path(text[:255]).is_file()):
        if variant is not None:
            raise ZugwerkError("a FEN contains its variant (3/3/3 b exact-3); remove --variant")
        state = gomoku.from_fen(text)
    else:
        if is_sgf:
            record, state = _of_sgf(text, variant, number)
        else:
            record, _, state = read_psq(text, variant=variant)
        if record.first_name or record.second_name:
            typer.echo(f"x {record.first_name}, o {record.second_name}")
        typer.echo(" ".join(gomoku.format_move(action, *state.board.shape) for action in record.actions))
    typer.echo(diagram(state))
    typer.echo(standing(state))
    typer.echo(gomoku.to_fen(state))


def _of_sgf(path: str, variant: str | None, number: int | None) -> tuple[Any, Any]:
    from pipeline_src.games import gomoku
    from pipeline_src.records.sgf_games import read_game, start_of

    record = read_game(path, number).record
    if record.game != "gomoku":
        raise ZugwerkError(f"{path}: a game of {record.game}, not of gomoku")
    if variant is not None:
        raise ZugwerkError(f"{path}: an SGF record names its rule (RU); remove --variant")
    return record, reduce(gomoku.play, record.actions, start_of(record))


@gomoku_app.command(epilog='Example: zugwerk gomoku solve --fen "5/5/1x1x1/2oo1/5 b freestyle-4"')
def solve(
    fen: str | None = GomokuFen,
    file: Path | None = typer.Option(
        None, "--file", help="File of positions, one JSON object on each line; see docs/gomoku.md."
    ),
    movetime: float = typer.Option(1000.0, min=1.0, help="Milliseconds per position."),
    threads: int = typer.Option(1, min=1, max=256, help="Number of threads."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON; for a file, one line for each position."),
) -> None:
    """Search for a forced win of the side to move, and print its line if one is found in time.

    It searches by threats, then in a tree guided by the net for the rule if the package has one; with several threads,
    by threats in one of them and in the tree in all others. A printed win is proven. The line has the answers that hold
    out longest, or those that the tree looked at most.
    """
    from pipeline_src.games import gomoku
    from pipeline_src.search.limits import Limit
    from pipeline_src.systems.gomoku_zero.proving_player import packaged_solver

    if (fen is None) == (file is None):
        raise ZugwerkError("solve needs a position: give --fen or --file, one of them")
    solver, limit = packaged_solver(threads), Limit(movetime_ms=movetime)
    for first in (Limit(nodes=1), Limit(movetime_ms=1)):  # compiled before any clock runs
        solver.solve(gomoku.from_fen("5/5/5/5/5 b"), first)
    if file is not None:
        _solve_file(solver, file, limit, as_json)
        return
    state = gomoku.from_fen(fen or "")
    found = solver.solve(state, limit)
    line = [gomoku.format_move(action, *state.board.shape) for action in found.line]
    if as_json:
        move = line[0] if line else None
        typer.echo(json.dumps({"win": found.win, "move": move, "plies": found.plies, "line": line}))
    elif found.win:
        typer.echo(f"{line[0]} wins in {found.plies} plies: {' '.join(line)}")
    else:
        typer.echo(f"no forced win found in {found.seconds * 1e3:,.0f} ms, {found.nodes:,} positions")


def _solve_file(solver: Any, file: Path, limit: Any, as_json: bool) -> None:
    from pipeline_src.games import gomoku
    from pipeline_src.records.forced_wins import range_of, read_forced_wins

    shares: dict[str, list[bool]] = {}
    for state, announced in sorted(read_forced_wins(file), key=lambda one: one.plies if not as_json else 0):
        found = solver.solve(state, limit)
        shares.setdefault(range_of(announced), []).append(found.win)
        if as_json:
            move = gomoku.format_move(found.line[0], *state.board.shape) if found.win else None
            row = {"announced": announced, "win": found.win, "move": move, "plies": found.plies}
            typer.echo(json.dumps(row | {"ms": round(found.seconds * 1e3, 3)}))
    if not as_json:
        for name, won in shares.items():
            typer.echo(f"{name} plies: {sum(won)} of {len(won)} won, {sum(won) / len(won):.1%}")


@gomoku_app.command(epilog="Example: zugwerk gomoku openings 50 --size 20 --plies 5 > openings.txt")
def openings(
    count: int = typer.Argument(..., min=1, help="Number of openings, all different under the board's symmetries."),
    plies: int = typer.Option(5, min=1, max=40, help="Number of stones in an opening."),
    size: int | None = Size,
    variant: str | None = Variant,
    judge: str | None = typer.Option(
        None, help="Player that judges them.  [default: zero:fours=40 where it has a net for the rule, else engine]"
    ),
    within: float | None = typer.Option(
        None,
        min=0.0,
        help="Largest value for either side: 0.15 by a net, 100 points (400: odds of e to 1) by an engine.",
    ),
    square: int = typer.Option(7, min=1, help="Side of the central square that contains the stones."),
    nodes: int = typer.Option(10_000, min=1, help="Positions or simulations to judge an opening by."),
    games: int | None = typer.Option(
        None,
        min=0,
        help="Quick games of the judge against itself; each side has to win one: 4 by an engine, 0 by a net.",
    ),
    seed: int = typer.Option(0, min=0, help="Seed of the stones."),
) -> None:
    """Print balanced openings, one on each line, for `zugwerk match --openings FILE`.

    A net judges better than an engine: from openings that the engine calls level, a strong player wins with one colour.
    """
    from pipeline_src.arena.game import balanced_openings, central_cells, quick_games
    from pipeline_src.arena.match import with_limits
    from pipeline_src.games import gomoku
    from pipeline_src.games.gomoku import format_variant
    from pipeline_src.players.packaged import has_net
    from pipeline_src.players.player import by_results

    start = position("gomoku", None, size, variant)
    side, rule = start.board.shape[0], format_variant(start)
    text = judge or ("zero:fours=40" if has_net("gomoku", rule) else "engine")
    by_net = by_results(text)
    bound = (0.15 if by_net else 100.0) if within is None else within
    quick = quick_games((0 if by_net else 4) if games is None else games)
    text, among = with_limits("gomoku", text, {"nodes": nodes}), central_cells(side, min(square, side))

    def show(opening: tuple[int, ...]) -> None:
        typer.echo(" ".join(gomoku.format_move(action, side, side) for action in opening))

    balanced_openings("gomoku", start, count, plies, [seed], text, bound, among, quick, show)


@gomoku_app.command(epilog="Example: zugwerk gomoku brain --player engine:movetime=1000")
def brain(
    player: str = typer.Option("zero:movetime=1000", "--player", help="Player, e.g. zero:MODEL."),
    margin: float = typer.Option(100.0, min=0.0, help="Milliseconds of a turn's time that are reserved for delays."),
    seed: int = typer.Option(0, min=0, help="Seed of random choices."),
    verbose: bool = typer.Option(False, "--verbose", help="Write the result of each search as a MESSAGE."),
) -> None:
    """Run as a Gomocup engine (Piskvork protocol) on stdin and stdout; `END` ends it."""
    from pipeline_src.players.gomocup import Session

    _serve(lambda write: Session(player, write, seed, margin, verbose))


@gomoku_app.command(epilog="Example: zugwerk gomoku generations 12")
def generations(
    count: int = typer.Argument(..., help="Number of generations including the first, 2 to 99."),
    delete: bool = typer.Option(False, "--delete", help="List the files of later generations, ask, and delete them."),
) -> None:
    """Set the number of self-play generations in params.yaml.

    Existing generations are not made again, and the files of later ones stay unless --delete is given.
    """
    typer.echo(set_generations(count))
    if Path("dvc.yaml").is_file():  # it lists the generations
        from pipeline_src.reference.stage_code import record

        record()
    rest = files_beyond(count)
    if not rest:
        return
    if not delete:
        typer.echo(f"{len(rest)} files and folders of later generations stay; --delete lists them and asks")
        return
    for path in rest:
        typer.echo(path)
    if not typer.confirm(f"Delete these {len(rest)} files and folders?"):
        typer.echo("nothing was deleted")
        return
    for path in rest:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def set_generations(count: int, folder: Path = Path()) -> str:
    """Write ``count`` generations into ``params.yaml``, and keep comments and all files; return a line about it.

    Raises:
        ZugwerkError: a count outside 2..99, or params.yaml has no such section.
    """
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    from pipeline_src.project.profile import PARAMS, round_trip_yaml
    from pipeline_src.selfplay.params import wanted
    from pipeline_src.systems.gomoku_zero.params import SECTION, read_numbers

    if not 2 <= count <= MOST:
        raise ZugwerkError(f"there can be 2 to {MOST} generations, not {count}")
    path = folder / PARAMS
    before = len(read_numbers(path))
    yaml = round_trip_yaml()
    tree = yaml.load(path.read_text(encoding="utf-8"))
    section = tree[SECTION]
    for name in [name for name in section if name not in wanted(count)]:
        del section[name]
    for name, entry in wanted(count).items():
        if name not in section:
            made = CommentedMap({key: DoubleQuotedScalarString(value) for key, value in entry.items()})
            made.fa.set_flow_style()
            section[DoubleQuotedScalarString(name)] = made
    with written_aside(path) as aside, open(aside, "w", encoding="utf-8") as file:
        yaml.dump(tree, file)
    return f"{path} has {count} generations, where it had {before}; `dvc repro gomoku_evaluate` makes what is missing"


def files_beyond(count: int, folder: Path = Path()) -> list[Path]:
    """Return the files and folders of the generations after ``count`` that exist, by generation."""
    from pipeline_src.systems.gomoku_zero.params import GenerationFiles

    found = []
    for number in range(count + 1, MOST + 1):
        files = GenerationFiles(number, folder / "artifacts")
        of_one = (files.window, files.models, files.games, files.gate_games, files.report, files.curves, files.timings)
        found += [path for path in of_one if path.exists()]
    return found
