"""Games, records and real files for the tests of this folder."""

import random
from pathlib import Path

import pytest
from hypothesis import strategies as st

from pipeline_src.games import amazons
from pipeline_src.records.record import GameRecord

DATA = Path(__file__).parents[2] / "../shared/data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the collected records are not beside the checkout")

HEADER = "EV[null]PB[ann]PW[bob]SO[http://www.littlegolem.com]"


def random_game(seed, plies=1000, variant="standard"):
    """Action ids of up to ``plies`` random turns, and the position after them."""
    rng, state, actions = random.Random(seed), amazons.initial_state(10, variant), []
    while len(actions) < plies and amazons.winner(state) is None:
        actions.append(int(rng.choice(amazons.legal_actions(state))))
        state = amazons.play(state, actions[-1])
    return tuple(actions), state


def record_of(actions, **fields):
    """A GameRecord of standard size; ``fields`` replace the defaults."""
    defaults = {"game": "amazons", "gid": 1, "source": "littlegolem", "variant": "standard", "height": 10, "width": 10}
    return GameRecord(**{**defaults, "actions": actions, "winner": None, **fields})


# The dialect does not escape, so a name that contains a property of the site's may look like one.
HOSTILE = (
    "lazy\\player Shumacher;] [] ] ]; a)b (; ); ]] \u5b89 J\xf6rg \xc3\xa9 x]W[ x];W[a4-a5/a6 x];W[d1-d7/g7];B[a7-b8"
)
HOSTILE += " x]PB[y]SO[z];W[d1-d7/g7"
names = st.text(st.characters(codec="utf-8"), max_size=20).filter(lambda name: "]" not in name) | st.sampled_from(
    [*HOSTILE.split(), "\u2605 ivy", "\r\n\r\n(;"]
)


@st.composite
def game_records(draw):
    """Random games, whole or broken off, resigned or not, with any names."""
    variant = draw(st.sampled_from(["standard", "cross"]))
    actions, state = random_game(draw(st.integers(0, 10**6)), draw(st.integers(0, 120)), variant)
    resigned = draw(st.booleans())
    loser_to_move = resigned or amazons.winner(state) is not None
    return record_of(
        actions,
        gid=draw(st.integers(1, 2**62)),
        variant=variant,
        winner=("first" if len(actions) % 2 else "second") if loser_to_move else None,
        resigned=resigned,
        first_name=draw(names),
        second_name=draw(names),
        event=draw(st.sampled_from(["", "amzn.ch.12.1.1", "amzn.in.DEFAULT.7"])),
    )
