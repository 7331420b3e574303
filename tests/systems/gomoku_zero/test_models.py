from pathlib import Path

import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.gomoku_zero.models import ZeroConfig, ZeroModel, export_onnx, load_model, save_model
from pipeline_src.systems.gomoku_zero.nets import UniformConfig, UniformNet
from tests.systems.gomoku_zero.nets import SMALL, fresh, model, some_planes

each = pytest.mark.parametrize("config", SMALL.values(), ids=SMALL.keys())


@each
def test_saved_models_come_back_equal_and_ready_to_play(tmp_path: Path, config: ZeroConfig) -> None:
    net = fresh(config)
    save_model(tmp_path / "model.pt", net, variant="exact")
    again = load_model(tmp_path / "model.pt")
    assert again.variant == "exact"
    assert again.config == config
    assert not again.net.training
    with torch.no_grad():
        for mine, theirs in zip(net(some_planes(config)), again.net(some_planes(config)), strict=True):
            assert torch.equal(mine, theirs)


def test_the_bytes_do_not_depend_on_the_name(tmp_path: Path) -> None:
    save_model(tmp_path / "a.pt", fresh(SMALL["residual"]))
    save_model(tmp_path / "other" / "b.pt", load_model(tmp_path / "a.pt").net)
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "other" / "b.pt").read_bytes()


def test_half_the_bits_are_half_the_file_and_nearly_the_same_net(tmp_path: Path) -> None:
    config = SMALL["residual"]
    net = fresh(config)
    save_model(tmp_path / "whole.pt", net)
    save_model(tmp_path / "half.pt", net, half=True)
    again = load_model(tmp_path / "half.pt").net
    assert {p.dtype for p in again.parameters()} == {torch.float32}
    with torch.no_grad():
        for mine, theirs in zip(net(some_planes(config)), again(some_planes(config)), strict=True):
            torch.testing.assert_close(mine, theirs, rtol=0.02, atol=0.02)
    assert (tmp_path / "half.pt").stat().st_size < (tmp_path / "whole.pt").stat().st_size


def test_a_missing_model_names_the_command(tmp_path: Path) -> None:
    for path in (tmp_path / "none.pt", tmp_path):
        with pytest.raises(ZugwerkError, match=r": no such model$"):
            load_model(path)
    with pytest.raises(ZugwerkError, match=r": no such model; `dvc repro` makes the models of gomoku$"):
        load_model("artifacts/models/none.pt")


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    save_model(path, fresh(SMALL["plain"]))
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"not a model"):
        path.write_bytes(content)
        with pytest.raises(ZugwerkError, match=r"model\.pt: damaged, or not a model"):
            load_model(path)
    path.write_bytes(whole)
    saved = torch.load(path, weights_only=True)
    for change in (
        {"kind": "other"},
        {"kind": "residual"},
        {"config": {}},
        {"config": saved["config"] | {"height": 7}},
        {"state_dict": {}},
    ):
        torch.save(saved | change, path)
        with pytest.raises(ZugwerkError, match=r"model\.pt: damaged, or not a model"):
            load_model(path)
    torch.save({"weights": 1}, path)
    with pytest.raises(ZugwerkError, match=r"model\.pt: damaged, or not a model"):
        load_model(path)
    for change, complaint in (({"game": "go"}, "a model of 'go', not of gomoku"), ({"version": 0}, "rules version 0")):
        torch.save(saved | change, path)
        with pytest.raises(ZugwerkError, match=complaint):
            load_model(path)


@each
def test_weights_of_16_bits_hardly_change_an_answer_and_are_widened(config: ZeroConfig, tmp_path: Path) -> None:
    net, planes = fresh(config), some_planes(config, batch=16)
    save_model(tmp_path / "half.pt", net, half=True)
    again = load_model(tmp_path / "half.pt").net
    assert {parameter.dtype for parameter in again.parameters()} == {torch.float32}
    with torch.no_grad():
        (logits, values), (mine, my_values) = net(planes), again(planes)
    assert not torch.equal(logits, mine)
    torch.testing.assert_close(mine.softmax(1), logits.softmax(1), rtol=0, atol=3e-3)
    torch.testing.assert_close(my_values, values, rtol=0, atol=3e-3)


@each
def test_the_exported_net_answers_alike(config: ZeroConfig) -> None:
    import onnxruntime

    made, planes = model(config), some_planes(config, batch=16)
    session = onnxruntime.InferenceSession(export_onnx(made), providers=["CPUExecutionProvider"])
    policy, value = session.run(["policy", "value"], {"planes": planes.numpy()})
    with torch.no_grad():
        logits, values = made.net(planes)
    np.testing.assert_allclose(policy, logits.numpy(), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(value, values.numpy(), rtol=1e-4, atol=1e-4)
    assert np.ptp(policy) > 0.1  # not merely all zeros


def test_the_net_that_knows_nothing_is_exported_too() -> None:
    import onnxruntime

    net = UniformNet(UniformConfig(height=6, width=7, positions=2))
    content = export_onnx(ZeroModel(net, "freestyle"))
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    policy, value = session.run(["policy", "value"], {"planes": np.ones((3, 5, 6, 7), np.float32)})
    assert (policy.shape, value.shape) == ((3, 42), (3,))
    np.testing.assert_array_equal(policy, np.repeat(net.logits.numpy()[None], 3, axis=0))
    assert len(set(policy[0])) == 42  # no ties, which would all fall to the first cells
    assert policy.max() - policy.min() < 1e-3
    assert not value.any()


def test_the_same_weights_export_to_the_same_bytes() -> None:
    assert export_onnx(model(SMALL["projected"])) == export_onnx(model(SMALL["projected"]))
