"""A net in ONNX Runtime on the CPU, in 32-bit floats or in 8-bit integers."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.learning.onnx_session import open_session, with_int8
from pipeline_src.systems.gomoku_zero.backend import Answer, ModelInfo, Planes, Synchronous, empty_state
from pipeline_src.systems.gomoku_zero.planes import plane_count, zero_planes

CALIBRATION_POSITIONS, CALIBRATION_BATCH = 512, 64


class OnnxBackend(Synchronous):
    """Runs what `systems.gomoku_zero.onnx_graph` exports. Knows nothing of torch."""

    def __init__(self, content: bytes, threads: int = 1, name: str = "ONNX model") -> None:
        """``content`` is the model's file, ``name`` what complaints call it.

        Raises:
            ZugwerkError: onnxruntime is missing, or the model is damaged, foreign or of other rules.
        """
        try:
            session = open_session(content, threads)
            info = read_info(session.get_modelmeta().custom_metadata_map)
        except ZugwerkError:
            raise
        except Exception as error:  # its own exceptions share no base class
            reason = str(error).strip().splitlines()
            raise ZugwerkError(
                f"{name}: damaged, or not exported by `zugwerk export` ({reason[0] if reason else 'empty'})"
            ) from None
        if (info.game, info.version) != (gomoku.NAME, gomoku.VERSION):
            raise ZugwerkError(
                f"{name}: made for {info.game} under rules version {info.version}; "
                f"this is {gomoku.NAME}, version {gomoku.VERSION}"
            )
        super().__init__(self._run, info)
        self._session: Any = session

    def _run(self, planes: Planes) -> Answer:
        policy, value = self._session.run(["policy", "value"], {"planes": planes.astype(np.float32, copy=False)})
        return policy, value


def read_info(metadata: dict[str, str]) -> ModelInfo:
    """Read the description of an exported model from its metadata.

    Raises:
        KeyError, ValueError: they are not there, or not readable.
    """
    numbers = {name: int(metadata[name]) for name in ("version", "height", "width", "positions")}
    return ModelInfo(game=metadata["game"], variant=metadata["variant"], kind=metadata["kind"], **numbers)


def as_int8(content: bytes, planes: npt.NDArray[np.float32] | None = None) -> bytes:
    """An exported model with its convolutions in 8-bit integers, a scale for each filter; the heads stay in floats.

    Args:
        content: of the file in 32-bit floats.
        planes: float32 [B, C, H, W] on which the ranges of the activations are measured; None plays at random.

    Raises:
        ZugwerkError: a package is missing, or the model is damaged.
    """
    seen = random_planes(OnnxBackend(content).info) if planes is None else planes
    return with_int8(content, np.array_split(seen, max(1, len(seen) // CALIBRATION_BATCH)))


def random_planes(info: ModelInfo, count: int = CALIBRATION_POSITIONS) -> npt.NDArray[np.float32]:
    """Planes float32 [B, C, H, W] of positions met in random play, the same at every call."""
    rng = np.random.default_rng(0)
    planes = np.empty((count, plane_count(info.positions), info.height, info.width), np.float32)
    state: Any = empty_state(info)
    start = state
    for b in range(count):
        if gomoku.winner(state) is not None:
            state = start
        zero_planes(type(state)(*(array[None] for array in state)), info.positions, planes[b : b + 1])
        state = gomoku.play(state, int(rng.choice(gomoku.legal_actions(state))))
    return planes
