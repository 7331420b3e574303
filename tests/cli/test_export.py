import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.gomoku_zero.evaluator import open_backend
from pipeline_src.systems.gomoku_zero.models import save_model
from tests.systems.gomoku_zero.small import SMALL, fresh, some_planes


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(tmp_path / "best.pt", fresh(SMALL["residual"]), variant="exact")
    return tmp_path / "best.pt"


def run(*words: object) -> str:
    result = CliRunner().invoke(app, ["export", *map(str, words)], catch_exceptions=True)
    if result.exception is not None:
        raise result.exception
    return result.output


def test_the_exported_file_plays_without_the_model(model: Path) -> None:
    expected = open_backend(model, "onnx").run(some_planes(SMALL["residual"]).numpy())
    said = run(model)
    assert "best.onnx: gomoku 6x6 exact, residual net, 2 positions of history" in said
    model.unlink()
    backend = open_backend(model.with_suffix(".onnx"))
    for mine, theirs in zip(backend.run(some_planes(SMALL["residual"]).numpy()), expected, strict=True):
        assert (mine == theirs).all()


def test_a_name_of_one_s_own_and_8_bits(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "there" / "small.onnx"
    run(model, "--out", out, "--int8")
    info = open_backend(out).info
    assert (info.kind, info.variant, info.height) == ("residual", "exact", 6)
    assert b"QLinearConv" in out.read_bytes()
    assert not model.with_suffix(".onnx").exists()


def test_file_that_is_no_model_is_refused_without_output(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ZugwerkError, match=r"none\.pt: no such model"):
        run(tmp_path / "none.pt")
    (tmp_path / "bad.pt").write_bytes(b"no model")
    with pytest.raises(ZugwerkError, match=r"bad\.pt: damaged"):
        run(tmp_path / "bad.pt")
    shutil.copy(model, tmp_path / "model.onnx")
    with pytest.raises(ZugwerkError, match="an ONNX model already"):
        run(tmp_path / "model.onnx")
    assert not (tmp_path / "bad.onnx").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--package", "joseki"], "no nets of 'joseki' come with the package; there are: amazons_net, gomoku_zero"),
        (["--package", "amazons_net"], r"best\.pt: damaged, or not a model of these nets"),
        (["--package", "gomoku_zero", "--int8"], "remove --out and --int8"),
        (["--hours", "2"], "add --package SYSTEM, or remove it"),
    ],
)
def test_unexportable_combinations_are_refused(model: Path, words: list[str], complaint: str) -> None:
    with pytest.raises(ZugwerkError, match=complaint):
        run(model, *words)


def test_a_model_with_half_the_bits(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "half.pt"
    assert "half.pt: " in run(model, "--out", out)
    assert out.stat().st_size < model.stat().st_size
    assert open_backend(out, "onnx").info == open_backend(model, "onnx").info
    with pytest.raises(ZugwerkError, match="--int8 makes ONNX models alone"):
        run(model, "--out", out, "--int8")
