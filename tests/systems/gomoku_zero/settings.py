"""A cycle small enough for tests: 5x5, four in a row, a net of eight filters."""

from pipeline_src import yaml12

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
