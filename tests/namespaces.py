"""Hosts of their own on this machine: network namespaces on one bridge, each with its address and loopback."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("ip"), reason="network namespaces need root and iproute2"
)


@contextlib.contextmanager
def hosts(count: int) -> Iterator[list[tuple[str, list[str]]]]:
    """Yield the address of each host, and the words before a command that run it there."""
    mark = f"zw{os.getpid() % 10_000_000}"
    made: list[list[str]] = []

    def run(*words: str, undo: tuple[str, ...] = ()) -> None:
        subprocess.run(["ip", *words], check=True)
        if undo:
            made.append(["ip", *undo])

    try:
        try:  # the switch between the hosts; this machine stays as it is
            run("netns", "add", mark, undo=("netns", "del", mark))
            run("-n", mark, "link", "add", "bridge", "type", "bridge")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespaces here: {error}")
        run("-n", mark, "link", "set", "bridge", "up")
        found = []
        for number in range(1, count + 1):
            name, address, port = f"{mark}-{number}", f"10.0.0.{number}", f"port{number}"
            run("netns", "add", name, undo=("netns", "del", name))
            run("-n", name, "link", "set", "lo", "up")
            run("-n", mark, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
            run("-n", mark, "link", "set", port, "master", "bridge", "up")
            run("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
            run("-n", name, "link", "set", "eth0", "up")
            found.append((address, ["ip", "netns", "exec", name]))
        yield found
    finally:
        for words in reversed(made):
            subprocess.run(words, check=False)
