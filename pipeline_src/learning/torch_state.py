"""Files of values of torch, and the number of its threads within a block."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from pipeline_src.files import written_aside


def save_torch(path: Path | str, value: Any) -> None:
    """Write a value with ``torch.save``; the same value gives the same bytes, under any file name."""
    buffer = io.BytesIO()  # torch.save writes a file's own name into it
    torch.save(value, buffer)
    with written_aside(path) as aside:
        aside.write_bytes(buffer.getvalue())


@contextmanager
def torch_threads(threads: int | None) -> Iterator[None]:
    """Set the number of torch's threads within the block; None changes nothing."""
    before = torch.get_num_threads()
    wanted = before if threads is None else threads
    if wanted != before:
        torch.set_num_threads(wanted)
    try:
        yield
    finally:
        if wanted != before:
            torch.set_num_threads(before)
