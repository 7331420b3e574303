"""A new checkout: the graph, params, profiles and flows in a folder, around the installed package.

After an update of the package, `zugwerk code` writes the digests of its code, which decide which stages run again.
"""

import re
import shutil
import subprocess
from collections.abc import Callable
from configparser import ConfigParser
from importlib.util import find_spec
from pathlib import Path

from pipeline_src import __version__
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.project import plots_page
from pipeline_src.project.code import ROOT, cache_root
from pipeline_src.project.graph import GRAPH
from pipeline_src.project.params import PARAMS_FILE
from pipeline_src.project.plots_page import PAGE

PACKED = Path(__file__).parents[1] / "checkout"
"""Folder of the files in a wheel; pyproject.toml lists them. In a clone they are at the top."""
FILES = (
    ".dvc/config", ".dvc/.gitignore", ".dvcignore", ".gitattributes", ".gitignore", "docs/measured",
    "dvc.yaml", "flows", "params.yaml", "prefect.yaml", "profiles", "scrapy.cfg",
)  # fmt: skip
INSTALLED = {".dvc/plots": "pipeline_src/report/specs"}
"""Folders that a wheel installs with its packages, by their place in a checkout."""
_IN_PACKAGE = re.compile(
    r"^ +deps:\n(?: +- pipeline_src/.*\n)+(?! +- )|^ +- pipeline_src/.*\n"
    r"|^  \S+:\n +path: pipeline_src/.*\n(?: {4}.*\n)*",
    re.MULTILINE,
)
"""Dependencies on files of the package, and nets of it."""
DVC_STATE = "dvc"  # Folder below the user's cache; DVC's default is below /var/tmp, open to all, and DVC unpickles it
AUTHOR = ("-c", "user.name=Zugwerk", "-c", "user.email=zugwerk@localhost")  # so that it needs no settings of git


def new(folder: Path, record: Callable[[Path], object]) -> None:
    """Write a checkout, with one commit, for git and DVC, into a folder that is empty or does not exist.

    ``record`` writes the digests of the code in it (`reference.stage_code`).

    Raises:
        ZugwerkError: the folder has files, or git is missing or fails; then nothing is left.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ZugwerkError(f"{folder}: there is something already; name a new or empty folder")
    if shutil.which("git") is None:
        raise ZugwerkError("git is missing, and DVC needs it; install it and run this again")
    made = not folder.exists()
    try:
        _write(folder, record)
    except BaseException:
        for path in folder.iterdir() if folder.is_dir() else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if made:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _write(folder: Path, record: Callable[[Path], object]) -> None:
    source = PACKED if PACKED.is_dir() else ROOT
    places = {name: ROOT / path for name, path in INSTALLED.items()} | {name: source / name for name in FILES}
    for name, path in places.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(path, target)
    graph = folder / GRAPH
    graph.write_text(_IN_PACKAGE.sub("", graph.read_text(encoding="utf-8")), encoding="utf-8")
    record(folder)
    if find_spec("vl_convert") is not None:
        plots_page.write(folder / PAGE)
    write_local(folder)
    message = f"Zugwerk {__version__}"
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", message]):
        command = ["git", *AUTHOR, *words]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            raise ZugwerkError(f"{folder}: git {words[0]} failed: {done.stderr.strip()}")


def write_local(folder: Path = Path()) -> None:
    """Set DVC's state folder and the page of plots in ``.dvc/config.local``; its other settings stay."""
    local, state = folder / ".dvc/config.local", cache_root() / DVC_STATE
    state.mkdir(mode=0o700, exist_ok=True)
    settings = ConfigParser(interpolation=None)
    settings.read(local, encoding="utf-8")
    settings.read_dict({"core": {"site_cache_dir": str(state.resolve())}})
    if (folder / PAGE).is_file():
        settings.read_dict({"plots": {"html_template": PAGE.name}})
    with written_aside(local) as aside, open(aside, "w", encoding="utf-8") as file:
        settings.write(file)


def require_checkout(folder: Path = Path()) -> None:
    """Check that a folder has a graph to run. Raises ZugwerkError: it has none; says how to get one."""
    if missing := [name for name in (GRAPH, PARAMS_FILE) if not (folder / name).is_file()]:
        raise ZugwerkError(
            f"{folder.resolve()}: no {missing[0]} here; run this in a checkout: `zugwerk new FOLDER` writes one"
        )
