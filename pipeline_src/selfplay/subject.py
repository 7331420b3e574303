"""A game as the learner takes it, and a round of a generation. Knows nothing of torch: workers import it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.games.rules import winner
from pipeline_src.parallel import Parallel
from pipeline_src.search.mcts.puct_trees import EvaluateBatch
from pipeline_src.selfplay.params import GenerationFiles, Setting

SIGN: dict[Literal["first", "draw", "second"], int] = {"first": 1, "draw": 0, "second": -1}
LOCK_STEP = 64
"""Games in lock step, if the net's batches do not ask for more. Neither this nor the unit of work changes a game."""
Ints = npt.NDArray[np.integer[Any]]


class Subject:
    """A game and the nets that learn it. It has no state, and goes to the workers."""

    title: ClassVar[str]  # The game in messages
    game: ClassVar[Any]  # Its rules, a `games.game.Game`
    files: ClassVar[type[GenerationFiles]]

    # Games.

    def start(self, setting: Setting, number: int) -> Any:
        """The position that the games of a generation begin from."""
        return self.game.initial_state(setting.game.size_of(number), setting.game.variant)

    def opening_cells(self, start: Any, rng: np.random.Generator, params: Any) -> Sequence[int] | None:  # noqa: ARG002
        """The steps that an opening is drawn from; None for all legal ones."""
        return None

    def result(self, state: Any) -> int | None:
        """Who has won: 1 the first player, -1 the second, 0 nobody; None if it is not over."""
        won = winner(state)
        return None if won is None else SIGN[won]

    def places(self, steps: Ints) -> Ints:
        """Where a row of policies has these steps, all legal ones of a position in their order."""
        return np.arange(len(steps))

    def actions(self, steps: Sequence[int], size: int) -> tuple[int, ...]:  # noqa: ARG002
        """The actions of a game's steps on a board of this side."""
        return tuple(steps)

    # Players.

    def prepare(self, model: Path, setting: Any, folder: Path) -> Path:
        """Return the file that tasks open, which may be written into ``folder``."""
        raise NotImplementedError

    def open(self, model: Path | None, setting: Any) -> tuple[Any, EvaluateBatch]:
        """A net that counts what it has ``evaluated``, and the evaluator of self-play's leaves with it.

        Without a model, the first is None.
        """
        raise NotImplementedError

    def together(self, model: Path | None, setting: Any) -> tuple[int, int, int]:  # noqa: ARG002
        """Games of a task at least; games in lock step; parts, see `play.play_self`."""
        return 1, LOCK_STEP, 1

    def player(self, model: Path, setting: Any) -> str:
        """Text of the gate's player with a prepared model."""
        raise NotImplementedError

    # Nets; these import torch.

    def save_first(self, path: Path, setting: Any) -> None:
        """Write the model that the first generation's is compared with: that of the params, or one without a net."""
        raise NotImplementedError

    def begun(self, setting: Any) -> bool:  # noqa: ARG002
        """Whether the first generation trains that model on."""
        return False

    def net(self, model: Path | None, setting: Any, number: int) -> Any:
        """The net to train in a generation, from a model, or with fresh weights by torch's generator."""
        raise NotImplementedError

    def save(self, path: Path, net: Any, setting: Any) -> None:
        """Write a model; the same weights give the same bytes."""
        raise NotImplementedError

    def batches(self, games: Any, setting: Any, count: int) -> Any:
        """Batches of a window's games, a `train.Batches`, for round ``count``."""
        raise NotImplementedError


class Round:
    """A round of self-play and training in an unfinished generation: what it begins with, and what it leaves."""

    def __init__(
        self,
        work: Path,
        subject: Subject,
        files: GenerationFiles,
        index: int,
        setting: Setting,
        parallel: Parallel,
        start: Path | None = None,
    ) -> None:
        """Name its files.

        Args:
            work: folder of the unfinished generation.
            subject: what is learnt.
            files: of the generation.
            index: number of the round in its generation, from 0.
            setting: the params.
            parallel: how games are played side by side.
            start: model that the first generation begins with; None: fresh weights, and a player that knows nothing.
        """
        self.work, self.subject, self.files, self.index, self.start = work, subject, files, index, start
        self.setting, self.parallel = setting, parallel
        self.count = (files.number - 1) * setting.self_play.rounds + index + 1
        """Number of the round among those of all generations, from 1. It marks the games and seeds the training."""
        self.size = setting.game.size_of(files.number)  # Side of the board
        self.self_play = setting.self_play.at(files.number)  # Its params in this generation
        self.folder = work / f"round_{index + 1:03d}"
        self.new = self.folder / "new"  # Its games
        self.window = self.folder / "window"  # The replay window with them
        self.model = self.best = self.folder / "model.pt"  # The net trained on the window, which plays the next round
        self.learner = self.folder / "learner.pt"  # State of the optimizer

    @property
    def before(self) -> "Round | GenerationFiles | None":
        """The round before, or the generation before; None for the first round of all."""
        if not self.index:
            return self.files.before
        return Round(self.work, self.subject, self.files, self.index - 1, self.setting, self.parallel, self.start)
