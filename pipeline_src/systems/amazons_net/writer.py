"""Write the samples' arrays side by side, one .npy file a field."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.learning.writer import ArrayStream
from pipeline_src.systems.amazons_net.schema import FIELDS, Samples


class SamplesWriter:
    """The arrays of a data set, written together; `open_writer` makes one."""

    def __init__(self, streams: list[ArrayStream]) -> None:
        """One stream for each of `FIELDS`."""
        self.streams = streams

    def append(self, samples: Samples, rows: npt.NDArray[np.bool_]) -> None:
        """Write those of some samples that the mask ``rows`` [n] marks."""
        arrays: tuple[npt.NDArray[Any], ...] = samples
        for stream, values in zip(self.streams, arrays, strict=True):
            stream.append(values[rows])

    def sha256(self) -> dict[str, str]:
        """Hash of each complete file by its name."""
        assert not any(stream.rows_left for stream in self.streams), "rows are missing"
        return {stream.path.name: stream.sha256 for stream in self.streams}


@contextmanager
def open_writer(folder: Path, count: int, size: int) -> Iterator[SamplesWriter]:
    """Open a file for each field in a folder that exists, for ``count`` samples on boards of size x size."""
    with ExitStack() as stack:
        streams = []
        for field in FIELDS:
            path = folder / f"{field.name}.npy"
            file = stack.enter_context(open(path, "wb", buffering=0))
            streams.append(ArrayStream(file, path, field.dtype, (count, *field.shape(size))))
        yield SamplesWriter(streams)
