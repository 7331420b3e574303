import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.systems.search_depth.chooser import DepthModel, load_depth_model
from pipeline_src.systems.search_depth.head import chosen_depths
from pipeline_src.systems.search_depth.models import SavedDepthNet, make_depth_net, save_depth_net
from pipeline_src.systems.search_depth.net import PublishedDepthConfig, ResidualDepthConfig
from pipeline_src.systems.search_depth.planes import depth_planes

MODELS = {
    "stride": (PublishedDepthConfig(10, 1, 1, filters=3), "linear", "published"),
    "pooling": (PublishedDepthConfig(10, 1, 5, filters=3, shrink="pooling"), "classes", "published"),
    "dense": (PublishedDepthConfig(10, 7, 1, filters=3, shrink="dense"), "sigmoid", "full"),
    "residual": (ResidualDepthConfig(10, 7, 5, channels=4, blocks=2), "classes", "full"),
    "costs": (ResidualDepthConfig(10, 7, 6, channels=4, blocks=1), "costs", "full"),
}


def saved(name):
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
def test_one_at_a_time_is_what_the_net_says(name):
    model, chosen = DepthModel(saved(name)), set()
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


def test_the_state_is_left_as_it_was():
    model, (n, used, state) = DepthModel(saved("residual")), positions(1)[0]
    before = [array.copy() for array in state]
    model.choose(n, used, state)
    assert all(map(np.array_equal, before, state))


def test_confidence_is_for_models_with_probabilities(tmp_path):
    for name in ("stride", "residual"):
        save_depth_net(tmp_path / f"{name}.pt", saved(name))
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
