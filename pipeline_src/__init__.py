"""Zugwerk: one reproducible pipeline for board-game AI.

Importing the package points numba's cache at a folder named by a hash of the kernel sources. Numba
itself looks only at the file of the cached function, so a search compiled for a game would survive a
change in that game's rules; with a folder per hash, an edited rule can never meet a stale kernel.

It also turns off onnxruntime's telemetry: from 1.29 on its builds for Linux send events to their maker, the first of
them at import, before `onnxruntime.disable_telemetry_events` can be called. The variable has to be set by then.
"""

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

__version__ = "0.1.0"

KERNEL_FOLDERS = ("games", "search", "learning", "systems")
KEEP_CACHES = 4
KEEP_CACHE_S = 7 * 24 * 3600


def source_hash(folders: Iterable[str], package: Path = Path(__file__).parent) -> str:
    """Hash of Python's version and of every source file in folders of ``package`` (64 hex digits)."""
    digest = hashlib.sha256(sys.version.encode())
    for folder in folders:
        for path in sorted((package / folder).rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def kernel_hash(package: Path) -> str:
    """Hash of every source file in the folders of ``package`` that hold numba kernels (12 hex digits)."""
    return source_hash(KERNEL_FOLDERS, package)[:12]


def _cache_root() -> Path:
    """The user's cache folder, or a temporary one where home cannot be written."""
    chosen = os.environ.get("ZUGWERK_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = Path(chosen) if chosen else base / "zugwerk"
    try:
        root.mkdir(parents=True, exist_ok=True)
        if os.access(root, os.W_OK):
            return root
    except OSError:
        pass
    return Path(tempfile.gettempdir()) / f"zugwerk-{os.getuid() if hasattr(os, 'getuid') else 'user'}"


def _prune(root: Path, current: str) -> None:
    """Remove kernel caches of sources long gone; a cache in use is young, since each start touches it."""
    others = [p for p in root.glob("numba-*") if p.name != current]
    others.sort(key=lambda p: p.stat().st_mtime, reverse=True)
    for old in others[KEEP_CACHES:]:
        if time.time() - old.stat().st_mtime > KEEP_CACHE_S:
            shutil.rmtree(old, ignore_errors=True)


def _use_kernel_cache() -> None:
    root = _cache_root()
    folder = root / f"numba-{kernel_hash(Path(__file__).parent)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        _prune(root, folder.name)
    except OSError:  # a full or read-only disk costs the cache, not the run
        pass
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    if "numba" in sys.modules:  # imported before us: it has read the variable already
        sys.modules["numba"].config.CACHE_DIR = str(folder)


os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
_use_kernel_cache()
