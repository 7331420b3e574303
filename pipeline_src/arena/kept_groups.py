"""Where groups of games are kept as they are finished, so that a stage that was killed goes on with the others."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any


def kept_folder(root: Path, code: str, key: Any) -> Path:
    """The folder of this very run under ``root``, made if need be; those of any other are removed.

    Args:
        root: a folder that git and DVC do not look at.
        code: digest of what plays them (`project.code`).
        key: all else that does, as JSON can write it.
    """
    digest = hashlib.sha256(code.encode())
    digest.update(json.dumps(key, sort_keys=True).encode())
    folder = root / digest.hexdigest()[:16]
    for other in root.glob("*"):
        if other != folder:
            shutil.rmtree(other)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
