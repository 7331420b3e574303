"""Package a trained net: a file that runs without torch, and a card from params and metrics."""

import contextlib
import datetime
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_src.arena.calibration import Calibration, measure_calibration
from pipeline_src.arena.runner import Board
from pipeline_src.arena.score import CalibrationParams, calibration_rows
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.parallel import Parallel
from pipeline_src.players import packaged
from pipeline_src.players.packaged import ONNX, Card, PackagedNet
from pipeline_src.players.player import OneBoard
from pipeline_src.project.params import PARAMS_FILE, build, read_tree
from pipeline_src.project.profile import GIVEN_WHOLE, flat, profile_tree, round_trip_yaml
from pipeline_src.report.figures import commit, figures, hardware, of_the_graph
from pipeline_src.search.tables import LINES, RAYS
from pipeline_src.systems.gomoku_zero.params import data_words

AMAZONS, GOMOKU, GROWING = "amazons_net", "gomoku_zero", "growing_boards"
SYSTEMS = (AMAZONS, GOMOKU, GROWING)
STAGES = {
    "residual_": "amazons_match",
    "zero_": "amazons_zero_evaluate",
    GOMOKU: "gomoku_evaluate",
    GROWING: "growing_evaluate",
}
"""Last stage of each system that trains nets; of the Amazons' nets by what their figures' names begin with."""
GAMES = CalibrationParams()


class Opened(NamedTuple):
    """A net as read from its file, with a function that writes it."""

    net: Any
    game: str
    size: int
    rule: str
    ending: str  # Ending of the file: one of `ENDINGS`
    save: Callable[[Path], object]  # Function that writes the net to a file that runs without torch
    int8: Callable[[bytes], bytes] | None = None  # Function that makes a model in 8-bit integers of that file's content
    kind: str = ""  # Kind of an Amazons' net, see `STAGES`


def package_net(
    model: Path,
    system: str,
    *,
    hours: float | None = None,
    checkout: Path = Path(),
    folder: Path = packaged.FOLDER,
    games: CalibrationParams = GAMES,
) -> PackagedNet:
    """Write a net in a form that runs without torch, and its card, into the folder of packaged nets.

    First the net's win rates, which users see, are compared with the results of its games against itself.

    If the last stage of the system has evaluated this net in this checkout, the card has the figures, and the profile,
    params, commands, commit and hardware of the checkout. For any other net they are unknown. The hours of training are
    by default those of the checkout's timings, if there are any.

    Raises:
        ZugwerkError: the system is unknown, the file is no model of it, the board is not square or belongs to a net of
            another system, the win rates are not calibrated (`Calibration.faults`), or the file is too large.
    """
    if system not in SYSTEMS:
        raise ZugwerkError(f"no nets of {system!r} come with the package; there are: {', '.join(SYSTEMS)}")
    opened, params = _open(model, system), read_tree(checkout / PARAMS_FILE)
    stem = folder / f"{system}-{opened.size}x{opened.size}-{opened.rule}"
    file, beside, quick = (
        stem.with_name(stem.name + ending) for ending in (opened.ending, packaged.CARD, packaged.INT8)
    )
    for net in packaged.packaged_nets(opened.game, folder) if folder.is_dir() else ():
        if net.card.board == OneBoard(opened.size, opened.size, opened.rule) and net.file != file:
            raise ZugwerkError(f"{net.file} is for the same board; remove it and its card first")
    rows, known = _figures(system, opened.kind, model, params, checkout)
    took = known if hours is None else hours
    with written_aside(file) as aside, contextlib.ExitStack() as stack:
        opened.save(aside)
        content, int8 = aside.read_bytes(), None
        _check_size(file, len(content))
        if opened.int8 is not None:
            integers = opened.int8(content)
            stack.enter_context(written_aside(quick)).write_bytes(integers)
            int8 = packaged.CardInt8(bytes=len(integers), sha256=hashlib.sha256(integers).hexdigest())
        calibration = _calibration(opened, model, params, games)
        card = Card(
            system=system,
            game=opened.game,
            size=opened.size,
            rule=opened.rule,
            architecture=_architecture(opened.net),
            data=_data(system, rows, params),
            params=_params(params, checkout) if rows else {},
            command=(f"zugwerk profile {params['profile']}", f"dvc repro {STAGES[opened.kind or system]}")
            if rows
            else (),
            commit=commit(checkout) if rows else None,
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            hours=took,
            hardware=hardware() if rows else None,
            figures=tuple(_card_figure(row) for row in rows),
            calibration=card_calibration(calibration, games),
            bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            int8=int8,
        )
        write_card(beside, card)
    return PackagedNet(file, card)


def write_card(path: Path, card: Card) -> None:
    """Write a card as YAML, without unknown fields."""
    with written_aside(path) as aside, open(aside, "w", encoding="utf-8") as sink:
        round_trip_yaml().dump(card.model_dump(mode="json", exclude_none=True, exclude_defaults=True), sink)


def _open(model: Path, system: str) -> Opened:
    if system == AMAZONS:
        from pipeline_src.search.amazons.rays import write_table
        from pipeline_src.systems.amazons_net.answers import as_int8
        from pipeline_src.systems.amazons_net.forward import export_nets
        from pipeline_src.systems.amazons_net.nets import ResidualNets, load_nets
        from pipeline_src.systems.amazons_net.rays import RaysNet, tabulate

        nets = load_nets(model)
        if isinstance(nets, RaysNet):
            size, made = nets.config.size, tabulate(nets)
            return Opened(
                nets, "amazons", size, "standard", RAYS, lambda path: write_table(path, made, size), kind="zero_"
            )
        if not isinstance(nets, ResidualNets):
            raise ZugwerkError(
                f"{model}: only residual nets and nets of rays run without torch, so no others are packaged"
            )
        return Opened(
            nets,
            "amazons",
            nets.config.size,
            "standard",
            ONNX,
            lambda path: path.write_bytes(export_nets(nets)),
            lambda content: as_int8(content, str(model)),
            kind="residual_",
        )
    from pipeline_src.systems.gomoku_zero.models import export_onnx, export_table, load_model

    found = load_model(model)
    if found.config.height != found.config.width:
        raise ZugwerkError(
            f"{model}: a board of {found.config.height}x{found.config.width}; packaged nets have squares"
        )

    about = found.net, "gomoku", found.config.height, found.variant
    if found.config.kind == "lines":
        return Opened(*about, LINES, lambda path: export_table(found, path))
    return Opened(*about, ONNX, lambda path: path.write_bytes(export_onnx(found)))


def _calibration(opened: Opened, model: Path, params: dict[str, Any], games: CalibrationParams) -> Calibration:
    """Measure the win rates, which have to be calibrated."""
    board = Board(opened.game, opened.size, opened.rule)
    parallel = build(Parallel, params["parallel"], "parallel", PARAMS_FILE.name)
    found = measure_calibration(board, model.resolve(), games, params["seed"], parallel)
    if faults := found.faults():
        raise ZugwerkError(
            f"{model}: its win rates are wrong, so it is not packaged: in {found.games} games against itself "
            f"{'; '.join(faults)}. Nets learn values from the turns of both sides of their games"
        )
    return found


def card_calibration(found: Calibration, games: CalibrationParams) -> packaged.CardCalibration:
    """Return the part of a card."""
    return packaged.CardCalibration(
        games=found.games,
        simulations=games.simulations,
        brier=found.brier.value,
        brier_low=found.brier.low,
        brier_high=found.brier.high,
        predicted=found.predicted,
        scored=found.scored.value,
        start_first=found.start[0],
        start_second=found.start[1],
        curve=tuple(build(packaged.CardRange, row, "curve", "card") for row in calibration_rows(found.bins)),
    )


def _data(system: str, rows: list[dict[str, Any]], params: dict[str, Any]) -> str | None:
    """Return the origin of the net's games in words; None if it is unknown."""
    if system == GOMOKU and rows:
        return data_words(params)
    return next((str(row["data"]) for row in rows if row["data"]), None)


def _check_size(file: Path, size: int) -> None:
    own = file.name.partition(".")[0]
    others = sum(
        path.stat().st_size
        for path in file.parent.iterdir()
        if path.suffix in packaged.ENDINGS and path.name.partition(".")[0] not in ("", own)
    )
    if size > packaged.MOST_BYTES or size + others > packaged.MOST_BYTES_IN_ALL:
        raise ZugwerkError(
            f"{file}: {size:,} bytes, and {others:,} of the other nets; "
            f"{packaged.MOST_BYTES:,} a net and {packaged.MOST_BYTES_IN_ALL:,} in all may come with the package"
        )


def _architecture(net: Any) -> str:
    """Return kind, shape and number of weights, such as ``residual: widths (32,), blocks 3; 61,234 weights``."""
    about = vars(net.config)
    shape = ", ".join(f"{name} {value}" for name, value in about.items() if name not in ("height", "width", "size"))
    weights = sum(parameter.numel() for parameter in net.parameters())
    return f"{type(net).__name__}: {shape}; {weights:,} weights"


def _params(params: dict[str, Any], checkout: Path) -> dict[str, Any]:
    """Return the profile, the seed, and the differences from the profile."""
    own = flat(profile_tree(params["profile"], checkout), whole=GIVEN_WHOLE)
    mine = flat(params, whole=GIVEN_WHOLE)
    changed = {key: value for key, value in mine.items() if key not in own or own[key] != value}
    return {"profile": params["profile"], "seed": params["seed"]} | changed


def _evaluated(system: str, kind: str, params: dict[str, Any]) -> Path:
    """Return the file of the net with which a system's figures were measured."""
    models = Path("artifacts/models")
    if kind == "residual_":
        return models / "amazons/residual/nets.pt"
    if system in (AMAZONS, GOMOKU):
        of, section = ("amazons_zero", "amazons_generations") if system == AMAZONS else ("gomoku", "gomoku_generations")
        return models / of / max(["01", *map(str, params[section])]) / "best.pt"
    sizes = [params["growing_first"]["size"], *params["growing_larger"]]
    return models / "growing" / str(max(map(int, sizes))) / "best.pt"


def _figures(
    system: str, kind: str, model: Path, params: dict[str, Any], checkout: Path
) -> tuple[list[dict[str, Any]], float | None]:
    """Return the report's rows with an interval for this net, and the hours of Gomoku's generations.

    Both are unknown for a net that was not evaluated; the hours are unknown for other systems.
    """
    evaluated = checkout / _evaluated(system, kind, params)
    if not evaluated.is_file() or evaluated.read_bytes() != model.read_bytes():
        return [], None
    own = {name: of_the_graph(row) for name, row in figures(checkout)[system].items()}
    rows = [
        row
        for name, row in own.items()
        if row is not None and row["low"] is not None and name.startswith(kind) and not name.startswith("baseline_")
    ]
    took = own["train_hours"] if system == GOMOKU else None
    return rows, float(took["ours"]) if rows and took is not None else None


def _card_figure(row: dict[str, Any]) -> packaged.CardFigure:
    words = f"{row['words']} ({row['player']})" if row["player"] else row["words"]
    return packaged.CardFigure(
        words=words, value=row["ours"], **{key: row[key] for key in ("low", "high", "n", "unit")}
    )
