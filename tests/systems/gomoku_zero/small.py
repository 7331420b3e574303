"""Small nets, positions, games, params, and a training of a second."""

from itertools import accumulate
from pathlib import Path

import numpy as np
import torch
from torch import nn

from pipeline_src import yaml12
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import GomokuState
from pipeline_src.selfplay.params import TrainParams
from pipeline_src.selfplay.train import train_generation
from pipeline_src.selfplay.window import extend_window, make_games
from pipeline_src.systems.gomoku_zero.models import ZeroConfig, ZeroModel, ZeroNet, make_net
from pipeline_src.systems.gomoku_zero.nets import PlainConfig, ResidualConfig
from pipeline_src.systems.gomoku_zero.train import Batches, positions

# A cycle small enough for tests: 5x5, four in a row, a net of eight filters.


SECTIONS = {
    "seed": 3,
    "parallel": {"workers": 1},
    "gomoku_game": {"size": 5, "variant": "freestyle-4"},
    "gomoku_net": {
        "kind": "plain",
        "positions": 1,
        "plain": {"filters": [8], "policy_planes": 2, "value_planes": 1, "value_hidden": 8},
    },
    "gomoku_self_play": {
        "games": 10,
        "search": "puct",
        "simulations": 6,
        "opening_plies": 2,
        "chunk": 4,
        "backend": "onnx",
    },
    "gomoku_train": {
        "window": 300,
        "passes": 2.0,
        "batch": 16,
        "augment": True,
        "optimizer": "adamw",
        "learning_rate": 0.01,
        "checkpoint_steps": 5,
        "log_steps": 3,
    },
    "gomoku_gate": {"games": 4, "simulations": 4, "opening_plies": 1},
    "gomoku_generations": {"02": {"before": "01"}},
}


def write_params(folder, **changed):
    """Params of the cycle, some keys of some sections changed: ``gomoku_gate={"games": 6}``."""
    tree = {
        name: {**value, **changed.pop(name, {})} if isinstance(value, dict) else value
        for name, value in SECTIONS.items()
    }
    path = folder / "params.yaml"
    path.write_text(yaml12.dump({**tree, **changed}))
    return path


def change(setting, section, **values):
    """A setting with some keys of one section changed."""
    return setting.model_copy(update={section: getattr(setting, section).model_copy(update=values)})


# Small self-play nets with weights that say something, running means and all.


SMALL: dict[str, ZeroConfig] = {
    "plain": PlainConfig(height=6, width=6, positions=2, filters=(5, 7)),
    "without_norm": PlainConfig(height=6, width=6, positions=1, filters=(5,), batch_norm=False),
    "oblong": PlainConfig(
        height=5, width=7, positions=2, filters=(4, 4), policy_planes=1, value_planes=1, value_hidden=3
    ),
    "signed": PlainConfig(height=6, width=6, positions=2, filters=(5, 7), batch_norm=False, signed=True),
    "convolutional": PlainConfig(
        height=5, width=7, positions=1, filters=(5, 6), signed=True, head="convolutional", value_hidden=8
    ),
    "residual": ResidualConfig(height=6, width=6, positions=2, stem_filters=4, stem_kernel=3, widths=(6, 8), blocks=2),
    "projected": ResidualConfig(
        height=6,
        width=6,
        positions=2,
        stem_filters=4,
        stem_kernel=3,
        widths=(6, 8),
        blocks=1,
        shortcut="project",
        head_planes=2,
        head_relu=True,
        value_hidden=5,
    ),
}


def fresh(config: ZeroConfig, seed: int = 1) -> ZeroNet:
    """As if it had been trained: what it answers depends on the board, and its batch norms have seen some boards."""
    torch.set_num_threads(1)  # or small convolutions wait for threads of a busy machine
    torch.manual_seed(seed)
    net = make_net(config)
    for norm in net.modules():
        if isinstance(norm, nn.BatchNorm2d):
            norm.momentum = 0.5
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias, std=0.3)
    with torch.no_grad():
        net.policy.weight.mul_(3)
        net.value.weight.mul_(3)
        for k in range(5):
            net(some_planes(config, seed=k))
    return net.eval()


def model(config: ZeroConfig, seed: int = 1) -> ZeroModel:
    return ZeroModel(fresh(config, seed), "freestyle")


def some_planes(config: ZeroConfig, batch: int = 8, seed: int = 1) -> torch.Tensor:
    torch.manual_seed(seed)
    return (torch.rand(batch, 2 * config.positions + 1, config.height, config.width) < 0.3).float()


# Self-play games of two players who choose at random, with a search's policies made up.


WINNERS = {"first": 1, "second": -1, "draw": 0}


def random_game(rng, size, variant):
    """Its actions and 1, -1 or 0."""
    state, actions = gomoku.initial_state(size, variant), []
    while gomoku.winner(state) is None:
        actions.append(int(rng.choice(gomoku.legal_actions(state))))
        state = gomoku.play(state, actions[-1])
    return actions, WINNERS[gomoku.winner(state)]


def states_of(actions, size=9, variant="freestyle"):
    """The start and the state after each action."""
    return list(accumulate(actions, gomoku.play, initial=gomoku.initial_state(size, variant)))


def unfinished(size, games, seed=0, variant="freestyle"):
    """The unfinished positions of some random games, in their order."""
    rng = np.random.default_rng(seed)
    for _ in range(games):
        yield from states_of(random_game(rng, size, variant)[0], size, variant)[:-1]


def stacked(states):
    """States as a batch."""
    return GomokuState(*(np.stack(arrays) for arrays in zip(*states, strict=True)))


def slow_planes(states, ply, positions):
    """Planes bool [C, H, W] of the position after ``ply`` plies, from the list of boards themselves."""
    side = ply % 2
    boards = [states[max(0, ply - back)].board for back in range(positions)]
    planes = [board == side + 1 for board in boards] + [board == 2 - side for board in boards]
    return np.stack([*planes, np.full(boards[0].shape, side == 0)])


def random_games(count, *, generation=1, size=5, variant="freestyle-4", opening=2, seed=0):
    """Games whose policies are random over all cells, after ``opening`` stones that no search chose."""
    rng = np.random.default_rng([seed, generation])
    played = [random_game(rng, size, variant) for _ in range(count)]
    policies = [rng.dirichlet(np.full(size * size, 0.3), max(len(a) - opening, 0)) for a, _ in played]
    actions, winners = zip(*played, strict=True)
    return make_games(
        gomoku.initial_state(size, variant),
        variant,
        actions,
        winners,
        policies,
        generation=generation,
        searched_from=opening,
    )


SIZE, HISTORY = 5, 2
SECTION = {
    "window": 1000,
    "passes": 2.0,
    "batch": 16,
    "augment": True,
    "optimizer": "adamw",
    "learning_rate": 5e-3,
    "weight_decay": 1e-2,
    "l2": 1e-4,
    "log_steps": 3,
    "checkpoint_steps": 5,
}


class SmallNet(nn.Module):
    """Two convolutions, one with batch norm, the other 1x1, and two heads."""

    def __init__(self, width=8):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(2 * HISTORY + 1, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.narrow = nn.Conv2d(width, 2, 1)
        self.policy = nn.Linear(2 * SIZE * SIZE, SIZE * SIZE)
        self.value = nn.Linear(2 * SIZE * SIZE, 1)

    def forward(self, planes):
        x = self.narrow(self.trunk(planes)).flatten(1)
        return self.policy(x), self.value(x).squeeze(1).tanh()


def small_net(seed=3, **config):
    torch.manual_seed(seed)
    return SmallNet(**config)


def small_positions():
    """Of two generations; the second brought about half."""
    return positions(extend_window(random_games(9), random_games(8, generation=2), 10**6), HISTORY)


def params(**changed):
    return TrainParams(**{**SECTION, **changed})


def run(folder, *, seed=5, generation=2, learner_state=None, net=None, data=None, **changed):
    section = params(**changed)
    return train_generation(
        net or small_net(),
        Batches(small_positions() if data is None else data, section, seed=seed, count=generation),
        section,
        generation=generation,
        learner_state=learner_state,
        folder=Path(folder),
    )
