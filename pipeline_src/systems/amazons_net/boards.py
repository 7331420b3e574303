"""Amazons boards of the report: positions of a held-out game with both nets' policies, and a whole game of a match."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline_src.games import amazons
from pipeline_src.games.amazons import BLACK, EMPTY, WHITE, move, replay
from pipeline_src.games.rules import to_play
from pipeline_src.project.params import load, load_value
from pipeline_src.records.record import GameRecord, read_records
from pipeline_src.report.examples import (
    PLAYED_BY,
    SIDES,
    Candidate,
    Draw,
    Example,
    Panel,
    Side,
    between,
    check_name,
    draw_game,
    heat_map,
    likeliest,
    ranks,
    rounded,
    square_names,
    within,
)
from pipeline_src.systems.amazons_net.answers import view_turn
from pipeline_src.systems.amazons_net.declaration import AmazonsShown
from pipeline_src.systems.amazons_net.forward import NetsForward
from pipeline_src.systems.amazons_net.nets import load_nets
from pipeline_src.systems.amazons_net.params import Pairing
from pipeline_src.systems.amazons_net.samples import open_dataset

GAMES = Path("artifacts/records/amazons/games.parquet")
MATCHES = Path("artifacts/records/amazons/matches.parquet")
SAMPLES = Path("artifacts/samples/amazons")
MODELS = Path("artifacts/models/amazons")
NAMES = {"residual": "residual net", "published": "Amazons-Net"}
"""Names of the models that the players of a match have in braces."""


def boards(shown: AmazonsShown) -> Callable[[Draw], list[Example]]:
    """Read the params; see `project.systems.Boards`."""
    check_name("amazons.match", shown.match, "amazons_match.matches")
    pairing = load(Pairing, f"amazons_match.matches.{shown.match}")
    loss = load_value(str, "amazons_match.loss")
    models = {"published": MODELS / loss / "nets.pt", "residual": MODELS / "residual" / "nets.pt"}
    return lambda rng: [
        *amazons_positions(shown, models, rng("amazons")),
        amazons_game(pairing, models, rng("game")),
    ]


def amazons_positions(shown: AmazonsShown, models: Mapping[str, Path], rng: np.random.Generator) -> list[Example]:
    """Return positions of a game of the test split, with the policies and win rates of the nets.

    Args:
        shown: the plies to show.
        models: files of the models by the keys of `NAMES`.
        rng: draws the game.

    Raises:
        ZugwerkError: records, data set or a model are missing, or the records have no game of the test split.
    """
    nets = {name: NetsForward(load_nets(models[name]), 1) for name in NAMES}
    dataset = open_dataset(SAMPLES)
    held_out = set(np.unique(dataset.samples.gid[dataset.split("test")]).tolist())
    records = [record for record in read_records(GAMES) if record.gid in held_out]
    missing = f"{GAMES}: no game of the test split of {SAMPLES}; `dvc repro amazons_samples` splits it again"
    record = draw_game(records, max(shown.plies, default=0), rng, missing)
    return [_position(nets, record, ply) for ply in within(shown.plies, record)]


def _position(nets: Mapping[str, NetsForward], record: GameRecord, ply: int) -> Example:
    state, _ = replay(amazons.initial_state(record.height, record.variant), record.actions[:ply])
    action, names = record.actions[ply], square_names("amazons", record.height)
    start, to, arrow = _squares(action, names)
    last = _squares(record.actions[ply - 1], names) if ply else ()
    moved = move(state, names.index(start), names.index(to))
    side = SIDES["amazons"][to_play(state)]
    panels = []
    for key, forward in nets.items():
        view = view_turn(forward, state, action)
        arrows = heat_map(names, view.arrow)
        panels += [
            Panel(
                label=f"{NAMES[key]}: amazon and new square",
                board=ranks("amazons", state.board),
                to_play=side,
                last=last,
                played=(start, to),
                heat=heat_map(names, view.start + view.to),
                candidates=tuple(
                    Candidate(move=f"{names[a]}-{names[b]}", probability=rounded(p)) for a, b, p in view.moves
                ),
                value=rounded(view.win_rate),
            ),
            Panel(
                label=f"{NAMES[key]}: arrow, after {start}-{to}",
                board=ranks("amazons", moved.board),
                to_play=side,
                last=(start, to),
                played=(arrow,),
                heat=arrows,
                candidates=likeliest(arrows),
                value=rounded(view.win_rate_after),
            ),
        ]
    return Example(
        system="amazons",
        name=f"amazons-ply-{ply}",
        title=f"A held-out game after {ply} turns, {side} to move",
        caption=f"Game {record.gid} of the test split, {PLAYED_BY[record.source]}. The turn played, "
        f"{start}-{to}/{arrow}, is outlined in red, the turn before with dashes. Percentages are the probabilities of "
        "the amazon to move and of her new square, then, after the move played, of the arrow's square.",
        game="amazons",
        panels=tuple(panels),
    )


def amazons_game(pairing: Pairing, models: Mapping[str, Path], rng: np.random.Generator) -> Example:
    """Return a whole game of a match, with its final position.

    Raises:
        ZugwerkError: the records are missing or have no game of the match.
    """
    a, b = (text.format_map(models) for text in (pairing.a, pairing.b))
    missing = f"{MATCHES}: no game of {a} and {b}; `dvc repro amazons_match` plays them"
    record = draw_game(between(read_records(MATCHES), a, b), 0, rng, missing)
    states = [amazons.initial_state(record.height, record.variant)]
    for action in record.actions:
        states.append(amazons.play(states[-1], action))
    apart = next((ply for ply, state in enumerate(states) if not _contested(state.board)), len(record.actions))
    names = square_names("amazons", record.height)
    called = {text: made.format_map(NAMES).removeprefix("nets:") for text, made in ((a, pairing.a), (b, pairing.b))}
    first, second = called[record.first_name], called[record.second_name]
    owned = territory(states[apart].board, names)
    white, black = (sum(side == one for side in owned.values()) for one in SIDES["amazons"])

    def panel(ply: int, label: str) -> Panel:
        board = states[ply].board
        last = _squares(record.actions[ply - 1], names) if ply else ()
        return Panel(label=label, board=ranks("amazons", board), last=last, owned=territory(board, names))

    return Example(
        system="amazons",
        name="amazons-game",
        title=f"A whole game: {first} against {second}",
        caption=f"White: {first}. Black: {second}. {SIDES['amazons'][record.winner == 'second']} won after "
        f"{len(record.actions)} turns. After {apart} turns neither side could reach the other's squares. Dots mark "
        f"squares that only one side could reach: {white} White's, {black} Black's.",
        game="amazons",
        panels=(
            panel(apart, f"territories after {apart} turns"),
            panel(len(record.actions), f"the end after {len(record.actions)} turns"),
        ),
        moves=tuple(amazons.format_move(action, record.height, record.width) for action in record.actions),
    )


def territory(board: npt.NDArray[np.int8], names: list[str]) -> dict[str, Side]:
    """Return the owner of each empty square that only one side's amazons border on, over any empty squares between.

    Args:
        board: int8 [H, W], as in a state.
        names: names of its squares.
    """
    return {
        names[square]: "White" if white else "Black"
        for inside, white, black in _regions(board)
        if white != black
        for square in np.flatnonzero(inside)
    }


def _contested(board: npt.NDArray[np.int8]) -> bool:
    return any(white and black for _, white, black in _regions(board))


def _regions(board: npt.NDArray[np.int8]) -> Iterator[tuple[npt.NDArray[np.bool_], bool, bool]]:
    """Yield connected empty squares, [H, W], and whether White's and whether Black's amazons border on them."""
    from scipy.ndimage import binary_dilation, label

    around = np.ones((3, 3), bool)
    regions, count = label(board == EMPTY, around)
    for region in range(1, count + 1):
        inside = regions == region
        border = board[binary_dilation(inside, around)]
        yield inside, bool((border == WHITE).any()), bool((border == BLACK).any())


def _squares(action: int, names: list[str]) -> tuple[str, str, str]:
    n = len(names)
    return names[action // (n * n)], names[action // n % n], names[action % n]
