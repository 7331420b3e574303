"""Small files as the stages write them, in the folder ``checkout``."""

import shutil
from pathlib import Path

CHECKOUT = Path(__file__).with_name("checkout")
FILES = sorted(path.relative_to(CHECKOUT).as_posix() for path in CHECKOUT.rglob("*.*") if path.is_file())


def write(folder, names=FILES):
    """Write files of `FILES` into a checkout."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / name, path)
