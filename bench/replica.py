"""Pages a second: the replica beside ``python -m http.server`` with the same pages as files, same client, in turns."""

import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.measure import medians, row
from pipeline_src.records.parquet import write_records
from pipeline_src.records.record import GameRecord

GAMES = 400
PLIES = 70
PLAYERS = 20
ROUNDS = 7
PAGES_A_ROUND = 2_000


def measure() -> list[dict[str, Any]]:
    """Pages a second of both servers.

    Nine pages in ten are records, the rest are players' lists, as in a crawl.
    """
    with tempfile.TemporaryDirectory() as name, _replica(Path(name)) as replica, _files(Path(name)) as files:
        targets = _targets()
        for i, body in enumerate(_fetch_all(replica, targets)):
            (Path(name) / f"{i}").write_bytes(body)
        ours, reference = medians(
            lambda: _pages_per_s(replica, targets),
            lambda: _pages_per_s(files, [f"/{i}" for i in range(len(targets))]),
            ROUNDS,
        )
    return [row("replica_pages_per_s", ours, reference, "python -m http.server", "pages/s")]


def _targets() -> list[str]:
    records = [f"/servlet/sgf/{gid}/game{gid}.txt" for gid in range(1, GAMES + 1)]
    lists = [f"/jsp/info/player_game_list.jsp?gtid=amzn&plid={plid}" for plid in range(1, PLAYERS + 1)]
    return [*records, *lists, *lists]


def _archive(path: Path) -> None:
    """Games of random squares: to serve them, they need not be legal."""
    rng = random.Random(0)
    records = []
    for gid in range(1, GAMES + 1):
        first, second = rng.sample(range(1, PLAYERS + 1), 2)
        actions = tuple(rng.randrange(10**6) for _ in range(PLIES))
        names = f"player {first}", f"player {second}"
        records.append(
            GameRecord("amazons", gid, "engine", "standard", 10, 10, actions, "first", False, *names, first, second)
        )
    write_records(records, path)


@contextmanager
def _replica(folder: Path) -> Iterator[str]:
    _archive(folder / "archive.parquet")
    with _started(
        [sys.executable, "-m", "spiders.replica", "--archive", str(folder / "archive.parquet"), "--port", "0"]
    ) as url:
        yield url


@contextmanager
def _files(folder: Path) -> Iterator[str]:
    # As it comes it speaks HTTP/1.0. Its HTTP/1.1 sends head and body apart, and so waits 40 ms a page.
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder)]
    with _started(command) as url:
        yield url


@contextmanager
def _started(command: Sequence[str]) -> Iterator[str]:
    """Base URL of a server that prints it first."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout
        found = re.search(r"http://[\d.]+:\d+", process.stdout.readline().decode())
        assert found, f"{command} did not start"
        yield found[0]
    finally:
        process.kill()
        process.communicate()


def _pages_per_s(url: str, targets: Sequence[str]) -> float:
    rounds = -(-PAGES_A_ROUND // len(targets))
    begun = time.perf_counter()
    for _ in range(rounds):
        _fetch_all(url, targets)
    return rounds * len(targets) / (time.perf_counter() - begun)


def _fetch_all(url: str, targets: Sequence[str]) -> list[bytes]:
    """Bodies of pages, over one connection as long as the server keeps it."""
    address = (urlsplit(url).hostname or "", urlsplit(url).port or 80)
    bodies: list[bytes] = []
    connection = None
    for target in targets:
        if connection is None:
            connection = socket.create_connection(address)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {address[0]}\r\n\r\n".encode())
        body, keep = _read_answer(connection)
        bodies.append(body)
        if not keep:
            connection.close()
            connection = None
    if connection:
        connection.close()
    return bodies


def _read_answer(connection: socket.socket) -> tuple[bytes, bool]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _some(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.split(b" ", 2)[1] == b"200", head
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    assert length, head
    while len(body) < int(length[1]):
        body += _some(connection)
    return body, head.startswith(b"HTTP/1.1")


def _some(connection: socket.socket) -> bytes:
    data = connection.recv(1 << 16)
    assert data, "the server closed the connection in mid-answer"
    return data
