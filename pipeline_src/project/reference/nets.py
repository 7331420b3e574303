"""The page of the nets that come with the package: a card each."""

from collections.abc import Iterator

from pipeline_src.players.packaged import Card, CardFigure, packaged_nets
from pipeline_src.project.reference.tables import NOTE, code, table

INTRO = f"""# Nets that come with the package

{NOTE}

Players whose text names no model (`zero`, `puct`, `nets`) play with the net of their board. Each is a file of weights
with 16 bits below `pipeline_src/nets`, and a card. `zugwerk export MODEL --package SYSTEM` makes both of a model of
this checkout, with its profile, params, commit and figures. Figures are those of the net before its weights were
rounded; `low` to `high` is the 95 % interval. What a card leaves out is not known.

"""


def nets_page() -> str:
    """The page's text."""
    nets = packaged_nets()
    head = ["net", "game", "board", "rule", "bytes"]
    rows = [(code(c.name), c.game, f"{c.size}x{c.size}", c.rule, f"{c.bytes:,}") for c in (net.card for net in nets)]
    lines = [*INTRO.splitlines(), *table(head, rows), ""]
    for net in nets:
        lines += [f"## {net.card.name}", "", *_about(net.card), ""]
        if net.card.figures:
            lines += [*table(["figure", "value", "low", "high", "n", "unit"], map(_row, net.card.figures)), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _about(card: Card) -> Iterator[str]:
    hours = None if card.hours is None else f"{card.hours:.3g}"
    params = ", ".join(code(f"{key}: {value}") for key, value in card.params.items())
    facts = {
        "net": card.architecture,
        "data": card.data,
        "params": params,
        "commands": ", then ".join(map(code, card.command)),
        "commit": code(card.commit or ""),
        "packaged on": card.date,
        "hours": hours,
        "hardware": card.hardware,
        "SHA-256": code(card.sha256),
    }
    yield from (f"- {name}: {value}" for name, value in facts.items() if value)


def _row(figure: CardFigure) -> tuple[str, ...]:
    low, high = ("" if end is None else f"{end:.3f}" for end in (figure.low, figure.high))
    return figure.words, f"{figure.value:.3f}", low, high, "" if figure.n is None else f"{figure.n:,}", figure.unit
