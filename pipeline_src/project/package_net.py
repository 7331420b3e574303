"""A trained net becomes one that comes with the package: weights of 16 bits, and a card from params and metrics."""

import dataclasses
import datetime
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.players.packaged import (
    FOLDER,
    MOST_BYTES,
    MOST_BYTES_IN_ALL,
    Card,
    CardFigure,
    PackagedNet,
    packaged_nets,
)
from pipeline_src.players.player import OneBoard
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.project.profile import flat, profile_tree, round_trip_yaml
from pipeline_src.report import provenance
from pipeline_src.report.figures import figures, of_the_graph
from pipeline_src.systems.gomoku_zero.evaluation_params import data_words

AMAZONS, GOMOKU, GROWING = "amazons_net", "gomoku_zero", "growing_boards"
SYSTEMS = (AMAZONS, GOMOKU, GROWING)
STAGES = {AMAZONS: "amazons_match", GOMOKU: "gomoku_evaluate", GROWING: "growing_evaluate"}
"""The last stage of a system's nets."""


class Opened(NamedTuple):
    """A net as its file has it, and how it is written again."""

    net: Any
    game: str
    size: int
    rule: str
    save: Callable[[Path], None]
    """Writes it with 16 bits a weight."""


def package_net(
    model: Path, system: str, *, hours: float | None = None, checkout: Path = Path(), folder: Path = FOLDER
) -> PackagedNet:
    """Write a net with weights of 16 bits, and its card, into the folder of the nets that come with the package.

    If the net is the one that the last stage of the system has evaluated in this checkout, the card has the figures,
    and the profile, params, commands, commit and hardware of the checkout. Of any other net they are not known.

    Args:
        model: file that a stage has written.
        system: one of `SYSTEMS`.
        hours: what it took; by default what the checkout's timings say, if they are there.
        checkout: the folder with params.yaml.
        folder: where both files go.

    Raises:
        ZugwerkError: no such system, no model of it, a board that is not square or has another system's net, or too
            many bytes.
    """
    if system not in SYSTEMS:
        raise ZugwerkError(f"no nets of {system!r} come with the package; there are: {', '.join(SYSTEMS)}")
    opened, params = _open(model, system), read_tree(checkout / PARAMS_FILE)
    stem = folder / f"{system}-{opened.size}x{opened.size}-{opened.rule}"
    file, beside = stem.with_name(f"{stem.name}.pt"), stem.with_name(f"{stem.name}.yaml")
    for net in packaged_nets(opened.game, folder) if folder.is_dir() else ():
        if net.card.board == OneBoard(opened.size, opened.size, opened.rule) and net.file != file:
            raise ZugwerkError(f"{net.file} is for the same board; remove it and its card first")
    rows, known = _figures(opened, system, model, params, checkout)
    took = known if hours is None else hours
    with written_aside(file) as aside:
        opened.save(aside)
        content = aside.read_bytes()
        _check_size(file, len(content))
        card = Card(
            system=system,
            game=opened.game,
            size=opened.size,
            rule=opened.rule,
            architecture=_architecture(opened.net),
            data=_data(system, rows, params),
            params=_params(params, checkout) if rows else {},
            command=(f"zugwerk profile {params['profile']}", f"dvc repro {STAGES[system]}") if rows else (),
            commit=provenance.commit(checkout) if rows else None,
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            hours=took,
            hardware=provenance.hardware() if rows else None,
            figures=tuple(_card_figure(row) for row in rows),
            bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )
        write_card(beside, card)
    return PackagedNet(file, card)


def write_card(path: Path, card: Card) -> None:
    """Write a card as YAML, without what is not known."""
    with written_aside(path) as aside, open(aside, "w", encoding="utf-8") as sink:
        round_trip_yaml().dump(card.model_dump(mode="json", exclude_none=True, exclude_defaults=True), sink)


def _open(model: Path, system: str) -> Opened:
    if system == AMAZONS:
        from pipeline_src.systems.amazons_net.models import load_nets, save_nets

        nets = load_nets(model)
        return Opened(nets, "amazons", nets.config.size, "standard", lambda path: save_nets(path, nets, half=True))
    from pipeline_src.systems.gomoku_zero.models import load_model, save_model

    found = load_model(model)
    if found.config.height != found.config.width:
        raise ZugwerkError(
            f"{model}: a board of {found.config.height}x{found.config.width}; packaged nets have squares"
        )

    def save(path: Path) -> None:
        save_model(path, found.net, found.game, found.variant, half=True)

    return Opened(found.net, found.game, found.config.height, found.variant, save)


def _data(system: str, rows: list[dict[str, Any]], params: dict[str, Any]) -> str | None:
    """Whose games the net learned from, in words; None if it is not known."""
    if system == GOMOKU and rows:
        return data_words(params)
    return next((str(row["data"]) for row in rows if row["data"]), None)


def _check_size(file: Path, size: int) -> None:
    others = sum(path.stat().st_size for path in file.parent.glob("*.pt") if path != file)
    if size > MOST_BYTES or size + others > MOST_BYTES_IN_ALL:
        raise ZugwerkError(
            f"{file}: {size:,} bytes beside {others:,} of the other nets; "
            f"{MOST_BYTES:,} a net and {MOST_BYTES_IN_ALL:,} in all may come with the package"
        )


def _architecture(net: Any) -> str:
    """Kind, shape and number of weights, such as ``residual: widths (32,), blocks 3; 61,234 weights``."""
    about = dataclasses.asdict(net.config)
    shape = ", ".join(f"{name} {value}" for name, value in about.items() if name not in ("height", "width", "size"))
    weights = sum(parameter.numel() for parameter in net.parameters())
    return f"{type(net).__name__}: {shape}; {weights:,} weights"


def _params(params: dict[str, Any], checkout: Path) -> dict[str, Any]:
    """Profile, seed, and what is otherwise than in the profile."""
    own = flat(profile_tree(params["profile"], checkout))
    changed = {key: value for key, value in flat(params).items() if key not in own or own[key] != value}
    return {"profile": params["profile"], "seed": params["seed"]} | changed


def _evaluated(system: str, residual: bool, params: dict[str, Any]) -> Path:
    """The file of the net that a system's figures are of."""
    models = Path("artifacts/models")
    if system == AMAZONS:
        return models / "amazons" / ("residual" if residual else params["amazons_match"]["loss"]) / "nets.pt"
    if system == GOMOKU:
        return models / "gomoku" / max(["01", *map(str, params["gomoku_generations"])]) / "best.pt"
    sizes = [params["growing_first"]["size"], *params["growing_larger"]]
    return models / "growing" / str(max(map(int, sizes))) / "best.pt"


def _figures(
    opened: Opened, system: str, model: Path, params: dict[str, Any], checkout: Path
) -> tuple[list[dict[str, Any]], float | None]:
    """Rows of the report that have an interval and are of this net, and the hours of Gomoku's generations.

    Neither is known of a net that is not the evaluated one; nor are the hours of other systems.
    """
    residual = system == AMAZONS and _is_residual(opened.net)
    evaluated = checkout / _evaluated(system, residual, params)
    if not evaluated.is_file() or evaluated.read_bytes() != model.read_bytes():
        return [], None
    own = {name: of_the_graph(row) for name, row in figures(checkout)[system].items()}
    rows = [
        row
        for name, row in own.items()
        if row is not None and row["low"] is not None and name.startswith("residual_") == residual
        if not name.startswith("baseline_")
    ]
    took = own["train_hours"] if system == GOMOKU else None
    return rows, float(took["ours"]) if rows and took is not None else None


def _is_residual(net: Any) -> bool:
    from pipeline_src.systems.amazons_net.residual import ResidualNets

    return isinstance(net, ResidualNets)


def _card_figure(row: dict[str, Any]) -> CardFigure:
    words = f"{row['words']} ({row['player']})" if row["player"] else row["words"]
    return CardFigure(words=words, value=row["ours"], **{key: row[key] for key in ("low", "high", "n", "unit")})
