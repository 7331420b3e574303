"""What commands import before they do anything, which is most of their start."""

import subprocess
import sys

import pytest


def imported(program):
    """Names of top-level packages that a program imports."""
    code = f"import sys\n{program}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_needs_neither_numpy_nor_models():
    assert not imported("from pipeline_src.cli import app") & {"numpy", "numba", "pydantic", "torch", "onnxruntime"}


@pytest.mark.parametrize(
    ("game", "text"),
    [
        ("gomoku", "zero"),
        ("amazons", "nets"),
        pytest.param("amazons", "puct", marks=pytest.mark.slow),
        pytest.param("gomoku", "zero:solver=20", marks=pytest.mark.slow),
    ],
)
def test_packaged_nets_play_without_training_dependencies(game, text):
    program = (
        "from pipeline_src.errors import REPRODUCE\n"
        "for name in REPRODUCE: sys.modules[name] = None\n"  # importing one is an error now
        "from pipeline_src.games.game import get_game\n"
        "from pipeline_src.players.registry import build_player\n"
        f"rules, player = get_game({game!r}), build_player({game!r}, {text!r})\n"
        "for size in {'gomoku': (9, 15), 'amazons': (10,)}[rules.NAME]: player.player_for(rules.initial_state(size))\n"
        "for name in REPRODUCE: del sys.modules[name]"
    )
    assert not imported(program) & {"torch", "lightning", "onnx", "scipy", "dvc"}


def test_missing_package_is_named_with_its_install_command():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pipeline_src.errors import run_main\n"
        "from pipeline_src.cli.project import export\n"
        "from pathlib import Path\n"
        "run_main(lambda: export(Path('a.pt'), None, False, None, None))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "error: the package torch is missing; reproducing needs more than playing: pip install 'zugwerk[reproduce]'\n"
    )
