"""A small training of a depth net."""

from pipeline_src.systems.search_depth.params import DepthBalancing, DepthModelParams, DepthTraining
from pipeline_src.systems.search_depth.positions import split_by_game
from pipeline_src.systems.search_depth.train import train_depth_net

STEPS = 16
SHARES = (75.0, 10.0, 15.0)
TRAINING = {"steps": STEPS, "batch": 64, "learning_rate": 0.02, "log_steps": 6, "checkpoint_steps": 5}


def run(positions, folder, *, training=None, balancing=None, seed=1, **model):
    """Train with some params other than usual."""
    return train_depth_net(
        positions,
        split_by_game(positions, SHARES, 1),
        DepthModelParams(**{"label": "reached", "balance": "smote", "filters": 4, **model}),
        DepthTraining(**(TRAINING | (training or {}))),
        DepthBalancing(**({"k_neighbors": 2, "ratio": 2.0} | (balancing or {}))),
        seed=seed,
        folder=folder,
    )
