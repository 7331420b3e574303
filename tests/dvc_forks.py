"""Imported by a nursery (`tests.starts`): there, a supervisor's DVC is forked too, with its imports made."""

import importlib
import os
import signal
import sys
from typing import Any

from dvc.cli import main
from dvc.cli.parser import get_main_parser

for _name in ("analytics", "cachemgr", "data_cloud", "lock", "repo.reproduce", "rwlock", "scm", "stage.run"):
    importlib.import_module(f"dvc.{_name}")
for _name in ("configobj", "dvc_render", "networkx", "pydot", "ruamel.yaml"):  # which commands import late
    importlib.import_module(_name)
_spawn = os.posix_spawnp
get_main_parser()  # it is kept, with what it imports


def _spawned(path: str, words: list[str], env: Any, **options: Any) -> int:
    """As `os.posix_spawnp`; of DVC, a fork that is as good: no input, the signals of a fresh Python."""
    if words[1:4] != ["-P", "-m", "dvc"]:
        return _spawn(path, words, env, **options)
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(write_through=True)
        sys.argv = ["dvc", *words[4:]]
        status = main()
    finally:
        os._exit(status)


os.posix_spawnp = _spawned
