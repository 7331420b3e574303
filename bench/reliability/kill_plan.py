"""Plan of the kills: random moments of an undisturbed run, divided among passes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Victim = Literal["stage", "dvc", "repro", "flow"]
SCHEDULED_SHARE = 1 / 3
"""Share of the kills that hit ``zugwerk repro`` or a flow."""
STAGE_SHARE = 0.5
"""Share of the other kills that hit the stage."""


@dataclass(frozen=True)
class Ran:
    """A stage of the undisturbed run, in seconds since the start of the run."""

    stage: str
    """Name in DVC, such as ``amazons_train@residual``."""
    begin: float
    end: float

    @property
    def kind(self) -> str:
        """Return the stage's name in dvc.yaml."""
        return self.stage.partition("@")[0]


@dataclass(frozen=True)
class Kill:
    """One planned kill."""

    at_pass: int
    stage: int
    """Index of the stage in the undisturbed run."""
    share: float
    """Moment as a fraction of the stage's time; above 1 is the pause after it, in which DVC stores its outputs."""
    victim: Victim


def draw_kills(ran: Sequence[Ran], kills: int, passes: int, seed: int) -> list[Kill]:
    """Return the kills in the order of passes and moments.

    Every moment of the undisturbed run is equally likely. A kind of stage without a kill gets one from the kind with
    the most kills; with fewer kills than kinds, some have none.
    """
    rng = np.random.default_rng(seed)
    moments = rng.uniform(ran[0].begin, ran[-1].end, kills)
    drawn = []
    for number, moment in enumerate(moments):
        stage = max(i for i, one in enumerate(ran) if one.begin <= moment)
        share = (moment - ran[stage].begin) / max(ran[stage].end - ran[stage].begin, 1e-3)
        drawn.append(Kill(number % passes, stage, float(share), _victim(rng, share)))
    for kind in dict.fromkeys(one.kind for one in ran):
        counts = Counter(ran[kill.stage].kind for kill in drawn)
        most, count = counts.most_common(1)[0]
        if kind not in counts and count > 1:
            at = next(i for i, kill in enumerate(drawn) if ran[kill.stage].kind == most)
            stage = int(rng.choice([i for i, one in enumerate(ran) if one.kind == kind]))
            share = float(rng.random())
            drawn[at] = replace(drawn[at], stage=stage, share=share, victim=_victim(rng, share))
    return sorted(drawn, key=lambda kill: (kill.at_pass, kill.stage, kill.share))


def _victim(rng: np.random.Generator, share: float) -> Victim:
    if rng.random() < SCHEDULED_SHARE:
        return "flow" if rng.random() < 0.5 else "repro"
    return "stage" if share < 1 and rng.random() < STAGE_SHARE else "dvc"
