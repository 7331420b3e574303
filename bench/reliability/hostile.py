"""Feed every parser of external input with hostile texts, for docs/measured/reliability.json.

A reader has to accept a text, reject it with a reason, or raise one of our errors. Accepted texts are written in every
format and read again. Any other exception, an answer that takes longer than `LIMIT_S`, and a file outside the output
folder count as crashes.

    python -m bench.reliability.hostile --records 12000 --seed 1
"""

import argparse
import contextlib
import random
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from bench.reliability.hostile_texts import hostile, oversized, tars

from bench.measured import about, count, known
from bench.reliability.hostile_readers import READERS, Found
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json
from pipeline_src.records.go_games import parse_sgf, write_sgf
from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.psq import write_psq
from pipeline_src.records.raw import RawGame, read_raw, write_raw
from pipeline_src.records.record import GameRecord, Reject, open_rejects, read_records, write_records
from pipeline_src.records.sgf import read_files
from pipeline_src.report.figures import hardware
from spiders.pages import PageError

OUT = Path("docs/measured/reliability.json")
LIMIT_S = 20
COMMAND = "make measure-reliability"
Read = Callable[[bytes], Found]


class Attack:
    """Counts of the outcomes of hostile input. All files go into one output folder; none may appear outside of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "deep" / "down" / "out"
        self.out.mkdir(parents=True)
        self.outcomes: Counter[str] = Counter()
        self.crashes: list[str] = []

    def feed(self, name: str, read: Read, data: bytes) -> None:
        """Give one input to one reader, and its result to every writer."""
        try:
            with _limit(LIMIT_S):
                found = read(data)
                self._write(found)
        except (ZugwerkError, PageError):
            self.outcomes[f"{name}: refused"] += 1
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            at = f"{Path(where.filename).name}:{where.lineno}"
            self.crashes.append(f"{name}: {type(error).__name__} at {at}: {str(error)[:200]!r} of {data[:300]!r}")
            self.outcomes[f"{name}: crashed"] += 1
        else:
            rejected = bool(found) and all(isinstance(one, Reject) for one in found)
            self.outcomes[f"{name}: {'rejected' if rejected else 'read'}"] += 1

    def strays(self) -> list[str]:
        """Return the files outside the output folder."""
        return sorted(str(p) for p in self.folder.rglob("*") if p.is_file() and self.out not in p.parents)

    def _write(self, found: Found) -> None:
        if not found:
            return
        _written([one for one in found if isinstance(one, GameRecord)], self.out)
        if rejects := [one for one in found if isinstance(one, Reject)]:
            with open_rejects(self.out / "rejects.parquet") as rows:
                for one in rejects:
                    rows.add(one)
        if raw := list({one.gid: one for one in found if isinstance(one, RawGame)}.values()):
            write_raw(self.out / "raw", raw)
            assert len(list(read_raw(self.out / "raw"))) == len(raw)


def _written(records: list[GameRecord], out: Path) -> None:
    if not records:
        return
    write_records({record.gid: record for record in records}.values(), out / "games.parquet")
    read_records(out / "games.parquet")
    for record in records:
        if record.game == "amazons":
            write_record(record)
        elif record.game == "gomoku":
            if " " not in record.variant:  # a position to begin with cannot be written
                write_psq(record)
        else:
            again = parse_sgf(write_sgf(record))[0]
            assert not isinstance(again, Reject), f"what was written cannot be read: {again.detail}"


@contextlib.contextmanager
def _limit(seconds: int) -> Iterator[None]:
    def late(*_: Any) -> None:
        raise TimeoutError(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attack(folder: Path, records: int, seed: int, large: bool = True) -> Attack:
    """Feed all readers with texts and archives.

    Args:
        folder: an empty folder.
        records: number of texts for all readers together.
        seed: seed of the texts.
        large: whether to use texts of 10 MB and archives too.
    """
    attacked = Attack(folder)
    # Thousands of small files need no fsync.
    with contextlib.chdir(attacked.out.parent), mock.patch("os.fsync", return_value=None):
        _feed_all(attacked, records, random.Random(seed), large)
    return attacked


def _feed_all(attacked: Attack, records: int, rng: random.Random, large: bool) -> None:
    whole = sum(reader.share for reader in READERS)
    for reader in READERS:
        for _ in range(-(-records * reader.share // whole)):
            attacked.feed(reader.name, reader.read, hostile(reader.good, rng))
        if large:
            for text in oversized(reader.good, rng):
                attacked.feed(reader.name, reader.read, text)
    if large:
        for what, data in tars(rng):
            attacked.feed("archives", _archive(attacked.out / "archive.tar", what), data)


def _archive(path: Path, what: str) -> Read:
    def read(data: bytes) -> Found:
        path.write_bytes(data)
        results = [result for name, text in read_files(path) for result in parse_sgf(text, name=f"{what} {name}")]
        return [result if isinstance(result, Reject) else result.record for result in results]

    return read


def main() -> None:
    """Attack, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=12_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        attacked = attack(Path(name), options.records, options.seed)
        strays = attacked.strays()
    for what, times in sorted(attacked.outcomes.items()):
        print(f"{what}: {times}")
    for crash in attacked.crashes:
        print(f"CRASH {crash}")
    for stray in strays:
        print(f"STRAY {stray}")
    total = sum(attacked.outcomes.values())
    figures = {"hostile_records": total, "hostile_crashes": len(attacked.crashes) + len(strays)}
    data = f"made: {len(READERS)} parsers and the reader of archives, seed {options.seed}"
    origin = about(COMMAND, data, hardware(), "smoke")
    write_json(OUT, known(OUT) | {name: count(value, total) | origin for name, value in figures.items()})


if __name__ == "__main__":
    run_main(main)
