import math
from pathlib import Path

import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.systems.search_depth.net import (
    SEARCHES,
    DepthConfig,
    DepthModel,
    DepthNet,
    PublishedDepthConfig,
    ResidualDepthConfig,
    SavedDepthNet,
    Shrink,
    chosen_depths,
    depth_value,
    load_depth_model,
    load_depth_net,
    make_depth_net,
    save_depth_net,
)
from pipeline_src.systems.search_depth.positions import depth_planes

CONFIGS: list[DepthConfig] = [
    PublishedDepthConfig(size=10, planes=1, outputs=1),
    PublishedDepthConfig(size=10, planes=1, outputs=5, filters=3, shrink="pooling"),
    PublishedDepthConfig(size=10, planes=7, outputs=5, filters=3, shrink="dense"),
    ResidualDepthConfig(size=10, planes=7, outputs=5, channels=4, blocks=2),
]


def fresh(config: DepthConfig) -> DepthNet:
    torch.manual_seed(1)
    net = make_depth_net(config)
    with torch.no_grad():
        for weight in net.parameters():
            weight.normal_(0, 0.3)
    return net.eval()


def saved(config: DepthConfig = CONFIGS[0]) -> SavedDepthNet:
    return SavedDepthNet(fresh(config), "reached", 3, 7, "linear" if config.outputs == 1 else "classes", "published")


def test_the_paper_s_net_read_literally_has_69_parameters() -> None:
    assert sum(p.numel() for p in fresh(CONFIGS[0]).parameters()) == 5 * 5 + 1 + 5 * 5 + 1 + 4 * 4 + 1


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.kind}-{getattr(c, 'shrink', '')}")
def test_boards_become_outputs(config: DepthConfig) -> None:
    assert fresh(config)(torch.rand(3, config.planes, 10, 10)).shape == (3, config.outputs)


@pytest.mark.parametrize(("shrink", "sides"), [("stride", [4, 2, 1]), ("pooling", [8, 2, 1]), ("dense", [8, 6, 5])])
def test_convolutions_shrink_as_the_table_says(shrink: Shrink, sides: list[int]) -> None:
    net, seen = fresh(PublishedDepthConfig(10, 1, 1, 2, shrink)), []
    for module in net.modules():
        if isinstance(module, torch.nn.Conv2d):
            module.register_forward_hook(lambda _m, _i, out: seen.append(out.shape[-1]))
    net(torch.rand(1, 1, 10, 10))
    assert seen == sides


def test_board_that_does_not_shrink_to_one_square_is_refused() -> None:
    with pytest.raises(ValueError, match="shrink: stride does not take 8x8 to 1x1"):
        make_depth_net(PublishedDepthConfig(8, 1, 1))
    assert make_depth_net(PublishedDepthConfig(8, 1, 1, shrink="dense"))(torch.rand(1, 1, 8, 8)).shape == (1, 1)


def test_heads_stay_within_the_classes() -> None:
    wild = np.array([[-100.0], [3.4], [3.6], [100.0]], np.float32)
    assert chosen_depths("linear", wild, 3, 7).tolist() == [3, 3, 4, 7]
    assert chosen_depths("sigmoid", wild, 3, 7).tolist() == [3, 7, 7, 7]
    assert chosen_depths("sigmoid", np.zeros((1, 1), np.float32), 3, 7).tolist() == [5]
    assert depth_value("sigmoid", torch.zeros(1, 1), 3, 7).tolist() == [5.0]


def test_confidence_asks_for_as_many_layers_as_it_takes() -> None:
    logits = np.log(np.array([[0.5, 0.1, 0.25, 0.1, 0.05]], np.float32))
    layers = [int(chosen_depths("classes", logits, 3, 7, c)[0]) for c in (None, 0.4, 0.55, 0.8, 0.9, 1.0)]
    assert layers == [3, 3, 4, 5, 6, 7]


def test_costs_choose_depth_within_share_of_clock() -> None:
    costs = np.log([0.01, 3.0, 0.5, 4.0, 2.0])  # a layer never takes less than the one before: 1, 3, 3, 12, 24 %
    outputs = np.append(costs, 5 / SEARCHES)[None].astype(np.float32)
    left = (0.0, 0.1, 0.2, 0.55, 0.65, 1.0)
    assert [int(chosen_depths("costs", outputs, 3, 7, left=x)[0]) for x in left] == [3, 3, 5, 5, 6, 6]
    assert chosen_depths("costs", outputs.repeat(2, 0), 3, 7, left=np.array([1.0, 0.06]), shares=1.5).tolist() == [7, 3]
    last = np.append(costs, -1.0)[None].astype(np.float32)  # this search is still to come
    assert chosen_depths("costs", last, 3, 7, left=0.2).tolist() == [6]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.kind}-{getattr(c, 'shrink', '')}")
def test_saved_models_come_back_equal(tmp_path: Path, config: DepthConfig) -> None:
    model = saved(config)
    save_depth_net(tmp_path / "a.pt", model)
    save_depth_net(tmp_path / "other" / "b.pt", model)
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "other" / "b.pt").read_bytes()
    again = load_depth_net(tmp_path / "a.pt", label="reached", classes=(3, 7))
    assert again.net.config == config
    assert not again.net.training
    assert (again.head, again.inputs) == (model.head, model.inputs)
    planes = torch.rand(2, config.planes, 10, 10)
    assert torch.equal(again.net(planes), model.net(planes))


def test_a_model_for_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    save_depth_net(path, saved())
    with pytest.raises(ZugwerkError, match=r"model\.pt: trained for classes 3 to 7, not 2 to 7$"):
        load_depth_net(path, classes=(2, 7))
    with pytest.raises(ZugwerkError, match=r"model\.pt: trained for the label 'reached', not 'needed'"):
        load_depth_net(path, label="needed")


def test_missing_and_damaged_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ZugwerkError, match=r"none\.pt: no such model$"):
        load_depth_net(tmp_path / "none.pt")
    path = tmp_path / "model.pt"
    save_depth_net(path, saved())
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"not a model"):
        path.write_bytes(content)
        with pytest.raises(ZugwerkError, match=r"model\.pt: damaged, or not a model that chooses"):
            load_depth_net(path)


def test_sigmoid_values_are_the_formula_s() -> None:
    outputs = torch.tensor([[0.7], [-1.2]])
    expected = [3 + 4 / (1 + math.exp(-0.7)), 3 + 4 / (1 + math.exp(1.2))]
    assert depth_value("sigmoid", outputs, 3, 7).tolist() == pytest.approx(expected)


MODELS = {
    "stride": (PublishedDepthConfig(10, 1, 1, filters=3), "linear", "published"),
    "pooling": (PublishedDepthConfig(10, 1, 5, filters=3, shrink="pooling"), "classes", "published"),
    "dense": (PublishedDepthConfig(10, 7, 1, filters=3, shrink="dense"), "sigmoid", "full"),
    "residual": (ResidualDepthConfig(10, 7, 5, channels=4, blocks=2), "classes", "full"),
    "costs": (ResidualDepthConfig(10, 7, 6, channels=4, blocks=1), "costs", "full"),
}


def saved_as(name):
    config, head, inputs = MODELS[name]
    torch.manual_seed(1)
    net = make_depth_net(config)
    with torch.no_grad():
        for weight in net.parameters():
            weight.normal_(0, 0.3)
    return SavedDepthNet(net.eval(), "reached", 3, 7, head, inputs)


def positions(count):
    """States after so many random turns, each with squares counted and some of the clock used."""
    rng, state, found = np.random.default_rng(2), amazons.initial_state(), []
    for _ in range(count):
        n = np.where(state.board == 1, rng.integers(0, 6, state.board.shape), 0).astype(np.uint8)
        found.append((n, float(np.float32(rng.uniform())), state))
        state = amazons.play(state, int(rng.choice(amazons.legal_actions(state))))
    return found


@pytest.mark.parametrize("name", MODELS)
def test_single_answers_equal_batched_ones(name):
    model, chosen = DepthModel(saved_as(name)), set()
    for n, used, state in positions(20):
        turns = np.array([len(amazons.legal_actions(state))], np.int32)
        side = np.array([amazons.to_play(state)], np.int8)
        planes = depth_planes(model.inputs, n[None], np.float32([used]), state.board[None], side, turns)
        with torch.inference_mode():
            outputs = model.saved.net(torch.from_numpy(planes)).numpy()
        np.testing.assert_allclose(model.forward(planes[0]), outputs[0], rtol=1e-4, atol=1e-5)
        chosen.add(model.choose(n, used, state))
        every = [model.choose(n, used, state), model.choose(n, used, state, int(turns[0]))]
        every.append(model.choose_all(planes, np.float32([used]))[0])
        assert every == [chosen_depths(model.saved.head, outputs, 3, 7, left=1 - np.float32(used))[0]] * 3
    assert chosen <= set(range(3, 8))


def test_state_is_unchanged():
    model, (n, used, state) = DepthModel(saved_as("residual")), positions(1)[0]
    before = [array.copy() for array in state]
    model.choose(n, used, state)
    assert all(map(np.array_equal, before, state))


def test_confidence_is_for_models_with_probabilities(tmp_path):
    for name in ("stride", "residual"):
        save_depth_net(tmp_path / f"{name}.pt", saved_as(name))
    models = [load_depth_model(tmp_path / "residual.pt", confidence=c) for c in (1e-9, 0.2, 0.5, 0.9, 1.0)]
    layers = np.array([[model.choose(*position) for model in models] for position in positions(20)])
    assert (np.diff(layers) >= 0).all()
    assert (layers[:, 0] < layers[:, -1]).all()
    with pytest.raises(ZugwerkError, match=r"stride\.pt: its head 'linear' has no probabilities"):
        load_depth_model(tmp_path / "stride.pt", confidence=0.8)
    with pytest.raises(ZugwerkError, match="confidence must be above 0"):
        load_depth_model(tmp_path / "residual.pt", confidence=0.0)
    with pytest.raises(ZugwerkError, match="classes 3 to 7, not 1 to 5"):
        load_depth_model(tmp_path / "residual.pt", classes=(1, 5))
