"""Write aside, then rename: a reader finds the old file or the new one, never half of either."""

import codecs
import csv
import errno
import json
import math
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError

Row = dict[str, str | float]  # Row of a table: its cells by the columns' names


@contextmanager
def written_aside(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path next to ``path``; when the block ends well, sync it and rename it to ``path``.

    The block creates the temporary path as a file or as a folder. When it raises, its output is removed and ``path``
    stays as it was. Several processes may write the same path; the last one counts. What a killed process has left is
    removed by the next one.

    Raises:
        OSError: ``path`` is a device or the like; or writing failed, and the message has the file's name, which
            libraries leave out.
    """
    target = Path(path)
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise OSError(errno.EINVAL, "it is no regular file; choose another one", str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_native_id()}.part")
    _remove_leftovers(target)
    try:
        yield aside
        _sync(aside)
        if aside.is_dir():
            _remove(target)  # a folder cannot be renamed over a full one
        aside.replace(target)
    except OSError as error:
        _remove(aside)
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror or str(error), str(target)) from error
    except BaseException:
        _remove(aside)
        raise


def _remove_leftovers(target: Path) -> None:
    """Remove what processes that no longer run have left next to a file or folder."""
    with os.scandir(target.parent) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(f".{target.name}.")]
    for name in names:
        left = re.fullmatch(r"(\d+)-\d+\.part", name.removeprefix(f".{target.name}."))
        if left and not _runs(int(left[1])):
            _remove(target.with_name(name))


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def stamp(path: Path) -> tuple[int, int]:
    """Return a stamp that changes when the file is written."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


OUTPUTS = Path("artifacts")  # The folder of all files that the graph makes, in the project's folder


def remedy(path: Path | str, words: str) -> str:
    """Return ``; words`` if the graph makes the file, and nothing for a user's own file, which no command brings back.

    >>> remedy("artifacts/models/nets.pt", "`dvc repro` makes it")
    '; `dvc repro` makes it'
    >>> remedy("mine.pt", "`dvc repro` makes it")
    ''
    """
    return f"; {words}" if OUTPUTS.resolve() in Path(path).resolve().parents else ""


def read_bytes(path: Path | str) -> bytes:
    """Return the bytes of a file.

    Raises:
        ZugwerkError: the file is missing.
    """
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file") from None


MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""Codecs by the byte order marks with which editors begin a text; they read the mark, too."""


def decoded(data: bytes, name: str) -> str:
    """Return a person's text: UTF-8, or what its byte order mark says. Marks, also of joined files, are left out.

    Raises:
        ZugwerkError: it is not; names the text, as ``name``, and the line.
    """
    try:
        code = next((code for mark, code in MARKS.items() if data.startswith(mark)), "utf-8")
        return data.decode(code).replace("\ufeff", "")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ZugwerkError(f"{name}, line {line}: not text in UTF-8; save it as UTF-8") from None


def read_text(path: Path | str) -> str:
    """Return the text of a person's file.

    Raises:
        ZugwerkError: the file is missing; as `decoded`.
    """
    return decoded(read_bytes(path), str(path))


def read_model_bytes(path: Path | str, again: str = "") -> bytes:
    """Return the bytes of a model's file; ``again`` says how to get one, as `remedy` does.

    Raises:
        ZugwerkError: there is no such file.
    """
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        raise ZugwerkError(f"{path}: no such model{again}") from None


def why_no_model(error: Exception) -> str:
    """Return why torch could not read a file, in a few words.

    torch's own message advises to load the file without ``weights_only``, which runs any code in the file.
    """
    text = str(error).strip()
    if type(error).__name__ == "UnpicklingError" or "weights_only" in text:
        return "it holds other things than weights and plain values"
    if isinstance(error, KeyError) and isinstance(error.args[0], str):
        return f"without {error.args[0]!r}"
    if isinstance(error, RuntimeError | ValueError) and text:
        return text.splitlines()[0]
    return f"other contents, {type(error).__name__}"


def write_json(path: Path | str, value: Any) -> None:
    """Write ``value`` as sorted, indented JSON; NaN and infinity become null, so that any reader can parse it.

    A report that a stage writes says under `MADE_BY` what made it: `project.graph.made_by`. Files of times do not.
    """
    if ORIGIN and _is_report(Path(path)):
        value = {**value, MADE_BY: ORIGIN}
    text = json.dumps(finite(value), indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False)
    with written_aside(path) as aside:
        aside.write_text(text + "\n", encoding="utf-8")


MADE_BY = "made_by"  # Key in a report
ORIGIN: dict[str, Any] = {}  # What makes the reports of this process, if it is a stage that DVC runs


def _is_report(path: Path) -> bool:
    """Whether a file is a system's report, below ``artifacts/reports/SYSTEM``."""
    reports, parents = (OUTPUTS / "reports").resolve(), path.resolve().parents
    return reports in parents[1:] and not path.name.endswith(".timings.json")


def read_json(path: Path | str) -> Any:
    """The JSON value in a file.

    Raises:
        ZugwerkError: the file is missing or is not JSON; names the file and the line.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file; `dvc repro` makes it") from None
    except ValueError as error:
        raise ZugwerkError(f"{path}: not valid JSON ({error}); remove it and run `dvc repro` again") from None


def write_table(path: Path | str, rows: Sequence[Mapping[str, str | float]]) -> None:
    """Write rows with the same keys as CSV with a header; NaN is an empty cell."""
    with written_aside(path) as aside, open(aside, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
        table.writeheader()
        table.writerows({key: _cell(value) for key, value in row.items()} for row in rows)


def read_table(path: Path | str, numbers: Sequence[str] = ()) -> list[dict[str, str]]:
    """The rows that `write_table` wrote, all cells as text; a table without rows has no columns.

    Args:
        path: the CSV file.
        numbers: columns that have to be there, with a number or nothing in each cell.

    Raises:
        ZugwerkError: the file is missing or no such table; names the file and the line.
    """
    try:
        with open(path, newline="", encoding="utf-8") as file:
            table = csv.DictReader(file)
            columns = table.fieldnames
            missing = [name for name in numbers if name not in (columns or ())]
            if missing and columns != []:
                raise ValueError(f"line 1: no column {', '.join(missing)}")
            return [_checked(row, numbers, table.line_num) for row in table]
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file; `dvc repro` makes it") from None
    except (ValueError, csv.Error) as error:
        raise ZugwerkError(f"{path}: no table ({error}); remove it and run `dvc repro` again") from None


def _checked(row: dict[str, str], numbers: Sequence[str], line: int) -> dict[str, str]:
    if None in row or None in row.values():  # so the reader marks cells without a column, and columns without a cell
        raise ValueError(f"line {line}: not as many cells as columns")
    for name in numbers:
        try:
            float(row[name] or "nan")
        except ValueError:
            raise ValueError(f"line {line}: {name} is no number: {row[name]!r}") from None
    return row


def _cell(value: str | float) -> str | float:
    return "" if isinstance(value, float) and math.isnan(value) else value


def finite(value: Any) -> Any:
    """The value with None for NaN and infinity, lists for tuples."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _sync(path: Path) -> None:
    for file in [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]:
        with open(file, "rb") as handle:
            os.fsync(handle.fileno())


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
