"""A trained net as what a player asks: how many layers to search in this position, with this much time used."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.games.amazons.moves import buffers, count_turns
from pipeline_src.systems.search_depth.forward import depth_forward
from pipeline_src.systems.search_depth.head import chosen_depths
from pipeline_src.systems.search_depth.models import SavedDepthNet, load_depth_net
from pipeline_src.systems.search_depth.planes import Inputs, depth_planes


class DepthModel:
    """Asks a net: about one position as a player does, in numpy, or about many at once, in torch."""

    def __init__(self, saved: SavedDepthNet, confidence: float | None = None, shares: float = 1.0) -> None:
        """``confidence`` and ``shares``: see `chosen_depths`; of a classifying head, and of one of costs."""
        self.saved, self.confidence, self.shares = saved, confidence, shares
        self.forward = depth_forward(saved.net)
        self.inputs: Inputs = "published" if saved.inputs == "published" else "full"

    @property
    def label(self) -> str:
        """Label on which the net was trained."""
        return self.saved.label

    @property
    def classes(self) -> tuple[int, int]:
        """Lowest and highest answer."""
        return self.saved.lowest, self.saved.highest

    def choose(self, n: npt.NDArray[np.uint8], used: float, state: AmazonsState, expandable: int | None = None) -> int:
        """Layers to search.

        Args:
            n: [H, W], what the search that fills n found, row 0 = rank 1.
            used: share of its clock that the side to move has used, 0..1.
            state: before the turn.
            expandable: number of legal turns, where the caller knows it.
        """
        turns = 0
        if self.inputs == "full":
            turns = count_turns(state, buffers(state)[0]) if expandable is None else expandable
        planes = depth_planes(
            self.inputs,
            n[None],
            np.array([used], np.float32),
            state.board[None],
            np.array([state.turn[0]], np.int8),
            np.array([turns], np.int32),
        )
        return int(self._chosen(self.forward(planes[0])[None], np.float32(1) - np.float32(used))[0])

    def choose_all(self, planes: npt.NDArray[np.float32], used: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        """Layers to search, int64 [B], of planes float32 [B, C, H, W] and the shares of clocks used, [B]."""
        with torch.inference_mode():
            outputs = self.saved.net(torch.from_numpy(planes)).numpy()
        return self._chosen(outputs, 1 - used)

    def _chosen(self, outputs: npt.NDArray[np.float32], left: npt.ArrayLike) -> npt.NDArray[np.int64]:
        return chosen_depths(self.saved.head, outputs, *self.classes, self.confidence, left, self.shares)


def load_depth_model(
    path: Path | str,
    *,
    label: str | None = None,
    classes: tuple[int, int] | None = None,
    confidence: float | None = None,
    shares: float = 1.0,
) -> DepthModel:
    """The model in a file.

    Args:
        path: what `depth_train` wrote.
        label: what it must have been trained on; None is anything.
        classes: lowest and highest class it must choose among; None is any.
        confidence: choose the first depth that suffices with this probability; None takes the likeliest. Of a
            classifying head alone.
        shares: how many equal shares of the clock one search may take. Of a head of costs alone.

    Raises:
        ZugwerkError: the file is missing, damaged, or of a model for another label or other classes; or a confidence
            for a model that has no probabilities, or one outside 0..1.
    """
    saved = load_depth_net(path, label=label, classes=classes)
    if confidence is not None:
        if saved.head != "classes":
            raise ZugwerkError(f"{path}: its head '{saved.head}' has no probabilities; leave confidence out")
        if not 0 < confidence <= 1:
            raise ZugwerkError(f"{path}: confidence must be above 0 and at most 1, not {confidence}")
    if shares != 1 and saved.head != "costs":
        raise ZugwerkError(f"{path}: its head '{saved.head}' shares out no clock; leave shares out")
    return DepthModel(saved, confidence, shares)
