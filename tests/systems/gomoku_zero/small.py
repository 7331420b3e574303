"""A net, positions and params that train in a second."""

from pathlib import Path

import torch
from torch import nn

from pipeline_src.systems.gomoku_zero.params import GomokuTrainParams
from pipeline_src.systems.gomoku_zero.self_play import extend_window, positions
from pipeline_src.systems.gomoku_zero.train import train_generation
from tests.systems.gomoku_zero.random_games import random_games

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
    return GomokuTrainParams(**{**SECTION, **changed})


def run(folder, *, seed=5, generation=2, learner_state=None, net=None, data=None, **changed):
    return train_generation(
        net or small_net(),
        small_positions() if data is None else data,
        params(**changed),
        seed=seed,
        generation=generation,
        count=generation,
        learner_state=learner_state,
        folder=Path(folder),
    )
