"""A data set of a few random games on the small board, and params that train on it in a second."""

from pathlib import Path

from pipeline_src.records.record import write_records
from pipeline_src.systems.amazons_net.build import build_dataset, read_games
from pipeline_src.systems.amazons_net.losses import MODELS
from pipeline_src.systems.amazons_net.params import section_of
from tests.systems.amazons_net.positions import random_records

SIZE = 6
SECTION = {
    "width": 0.05,
    "fewest_filters": 4,
    "dropout": 0.3,
    "mover_relative": False,
    "moved_first": False,
    "augment": True,
    "batch": 16,
    "epochs": 2,
    "patience": 5,
    "learning_rate": 1e-3,
    "warmup": 0.1,
    "value_weight": 1.0,
    "precision": "auto",
    "checkpoint_steps": 4,
}
RESIDUAL = {
    "channels": 8,
    "blocks": 1,
    "embedding": 4,
    "augment": True,
    "batch": 16,
    "epochs": 2,
    "patience": 5,
    "learning_rate": 5e-3,
    "warmup": 0.1,
    "value_weight": 1.0,
    "precision": "auto",
    "checkpoint_steps": 4,
}

RAYS = {name: value for name, value in RESIDUAL.items() if name not in ("channels", "blocks", "embedding")} | {
    "units": 8,
    "precision": "32-true",
}


def params(model="cross_entropy", **changed):
    """Params of a model's training, with the changes that it has a key for."""
    section = {"amazons_train": SECTION, "amazons_residual": RESIDUAL, "amazons_rays": RAYS}[section_of(model)]
    return MODELS[model].params(**section | {name: value for name, value in changed.items() if name in section})


def write_dataset(folder: Path, games: int = 14) -> None:
    records = folder.parent / "games.parquet"
    records.parent.mkdir(parents=True, exist_ok=True)
    write_records(random_records(games, size=SIZE), records)
    archive = read_games(records, SIZE, ("standard",))
    build_dataset(archive, folder, size=SIZE, variants=("standard",), shares=(7.0, 2.0, 1.0), seed=1)
