"""Choose the games, players and pages with quirks: the same for the same archive and seed."""

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from pipeline_src.records.crawl_params import QuirkParams
from spiders.replica.server import Answer

K = TypeVar("K", int, str)

NO_QUIRKS = QuirkParams(
    in_progress=0.0,
    missing=0.0,
    foreign=0.0,
    timeouts=0.0,
    names=0.0,
    double_json=0.0,
    failing=0.0,
    slow=0.0,
    slow_s=0.0,
)
HTML = "text/html;charset=UTF-8"
ERROR_PAGE = b"<!DOCTYPE html><html><head><title>Error</title></head><body><h1>An error occurred</h1></body></html>"
BROKEN = Answer(500, HTML, ERROR_PAGE)

MISSING = (BROKEN, Answer(200, HTML, b""), Answer(404, HTML, ERROR_PAGE), Answer(200, HTML, ERROR_PAGE))
"""Answers for the record of a missing game."""

FOREIGN = (
    "(;FF[4]EV[hex.mc.2011.jan.1.4]PB[{0}]PW[{1}]SZ[11]GC[ game #{2}]SO[http://www.littlegolem.com]"
    ";W[ba];B[swap];W[fg];B[ed];W[hc];B[resign])",
    "(;FF[4]EV[null]PB[{0}]PW[{1}]SO[http://www.littlegolem.com];B[j10];W[k11k9];B[h9i12];W[i11l8])",
    '[Event "null"]\r\n[Site "http://www.littlegolem.com"]\r\n[White "{0}"]\r\n[Black "{1}"]\r\n[Result "1-0"]\r\n\r\n'
    "1. b2-b3 g7-g6 2. a2-a3 h7-h6 3. b3-b4 resign 1-0\r\n",
)
"""Records of other games: first and second player, gid."""

NAMES = (r"lazy\{}", "{};]", "Jürgen {}", "{} \N{BLACK STAR}", "Ã¥Â¦ {}", "[{}")
"""Patterns of players' names: records do not escape anything and hold only Latin-1."""


def fraction(seed: int, quirk: str, key: int | str) -> float:
    """A number in [0, 1) that depends only on the arguments."""
    digest = hashlib.sha256(f"{seed}:{quirk}:{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def choose(keys: Iterable[K], share: float, seed: int, quirk: str) -> list[K]:
    """The keys that have a quirk: ``share`` of them, rounded."""
    ordered = sorted(keys, key=lambda key: (fraction(seed, quirk, key), key))
    return ordered[: round(share * len(ordered))]


class Moods:
    """Wrap the answers of a site: some come late, some fail the first time, some always fail."""

    def __init__(self, answer: Callable[[str], Answer], quirks: QuirkParams, seed: int, broken: Sequence[str]) -> None:
        self._answer = answer
        self._quirks = quirks
        self._seed = seed
        self._broken = tuple(broken)
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._moody = bool(quirks.slow or quirks.failing or broken)

    def __call__(self, target: str) -> Answer:
        """The answer for a path with its query, with quirks."""
        if not self._moody or target == "/robots.txt":
            return self._answer(target)
        if self._broken and target.startswith(self._broken):
            return BROKEN
        if fraction(self._seed, "slow", target) < self._quirks.slow:
            time.sleep(self._quirks.slow_s)
        failing = fraction(self._seed, "failing", target)
        if failing < self._quirks.failing:
            with self._lock:
                self._asked[target] += 1
                first = self._asked[target] == 1
            if first:
                return Answer(503 if failing < self._quirks.failing / 2 else 500, HTML, ERROR_PAGE)
        return self._answer(target)
