"""The page of the packaged nets, with a card for each."""

from collections.abc import Iterator

from pipeline_src.arena.calibration import MOST_AT_START, MOST_BIAS
from pipeline_src.players.packaged import Card, CardCalibration, CardFigure, packaged_nets
from pipeline_src.reference.tables import NOTE, code, table
from pipeline_src.report.table import number, with_unit

INTRO = f"""# Nets that come with the package

{NOTE}

Players whose text names no model (`zero`, `puct`, `nets`) play with the net of their board. Each is a card, and a file
below `pipeline_src/nets` that runs without torch: an ONNX model, or the table of a line net. The net of the Amazons is
there a second time in 8-bit integers, with which `puct` searches. `zugwerk export MODEL --package SYSTEM` makes them of
a model of this checkout, with its profile, params, commit and figures. The weights of these nets were once rounded to
16 bits; figures are those before that, with 95 % intervals. What a card leaves out is not known.

Each net also played against itself, from random openings of two plies, and its win rates were compared with the
results. A net is not packaged if its Brier score is above that of always saying one half (0.25, by the interval), if
its mean prediction is more than {MOST_BIAS} from the points scored, or if the win rates of both sides at the start
together are more than {MOST_AT_START} from 1.

"""


def nets_page() -> str:
    """Return the page's text."""
    nets = packaged_nets()
    head = ["net", "game", "board", "rule", "bytes"]
    rows = [(code(c.name), c.game, f"{c.size}x{c.size}", c.rule, f"{c.bytes:,}") for c in (net.card for net in nets)]
    lines = [*INTRO.splitlines(), *table(head, rows), ""]
    for net in nets:
        lines += [f"## {net.card.name}", "", *_about(net.card), ""]
        if net.card.figures:
            lines += [*table(["figure", "value (95 % CI)", "n"], map(_row, net.card.figures)), ""]
        lines += [*_calibration(net.card.calibration), ""]
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
    value, low, high = (number(one, figure.unit) for one in (figure.value, figure.low, figure.high))
    ends = "" if figure.low is None else f" ({low} to {high})"
    return with_unit(figure.words, figure.unit), f"{value}{ends}", number(figure.n)


def _calibration(found: CardCalibration) -> Iterator[str]:
    yield (
        f"Win rates in {found.games} games against itself at {found.simulations} simulations a move, first half of "
        f"each game: Brier score {found.brier:.3f} ({found.brier_low:.3f} to {found.brier_high:.3f}); "
        f"{found.predicted:.3f} predicted for the side to move, {found.scored:.3f} scored; at the start "
        f"{found.start_first:.3f} for the first side, a ply later {found.start_second:.3f} for the second."
    )
    yield ""
    head = ["win rate predicted", "observed (95 % CI)", "turns"]
    rows = [
        (f"{one.predicted:.2f}", f"{one.observed:.2f} ({one.low:.2f} to {one.high:.2f})", f"{one.turns:,}")
        for one in found.curve
    ]
    yield from table(head, rows)
