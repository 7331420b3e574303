"""Random games and positions, and what the package computes about them written slowly from the definitions."""

from pathlib import Path

import numpy as np

from pipeline_src.games.amazons import COLOUR, initial_state, legal_actions, move, play, winner
from pipeline_src.games.rules import to_play
from pipeline_src.records.record import GameRecord, write_records
from pipeline_src.systems.amazons_net.build import build_dataset, read_games
from pipeline_src.systems.amazons_net.losses import MODELS
from pipeline_src.systems.amazons_net.params import section_of

GOLDEN_FEN = "10/2qQ2**2/2**3*2/6Q*2/**1q3**1/1**5q1/6****/*1*1*5/2q1*2Q2/2Q7 w"
"""The position that patent CN 111330255 B works through; its move is D9-E10/E5."""
GOLDEN_BOARD = """
100 100 100 100 100 100 100 100 100 100
100 100 200 300 100 100   0   0 100 100
100 100   0   0 100 100 100   0 100 100
100 100 100 100 100 100 300   0 100 100
  0   0 100 200 100 100 100   0   0 100
100   0   0 100 100 100 100 100 200 100
100 100 100 100 100 100   0   0   0   0
  0 100   0 100   0 100 100 100 100 100
100 100 200 100   0 100 100 300 100 100
100 100 300 100 100 100 100 100 100 100
"""
GOLDEN_C1 = """
 90.0  95.0 110.0 115.0 103.3 102.5 102.0  96.7  95.7  95.0
 88.9  94.4 111.1 116.7 103.7 102.8 102.2  96.3  95.2  94.4
 83.3  87.5 100.0 100.0  91.7  93.8  97.5  93.8  92.9  92.2
 85.7  92.9 114.3 114.3 100.0 100.0 102.9 100.0  98.0  96.4
 83.3  91.7 116.7 116.7 100.0 100.0  96.7  97.2  95.2  93.8
 93.3 100.0 120.0 110.0  93.3  95.0  92.0  96.7  97.1  95.0
108.3 125.0 150.0 125.0 100.0 100.0  95.0 100.0  96.4  93.8
111.1 133.3 166.7 133.3 100.0 100.0 100.0 111.1 109.5 108.3
150.0 175.0 250.0 175.0 133.3 125.0 120.0 133.3 128.6 125.0
166.7 200.0 300.0 200.0 166.7 150.0 140.0 133.3 128.6 125.0
"""
"""F of the amazon on C1, as the patent prints it."""


def matrix(text):
    return np.array([line.split() for line in text.strip().splitlines()], dtype=np.float64)


def random_game(rng, size=10, variant="standard", opening=()):
    """Actions of a random game to its end, behind an opening, and who won."""
    state, actions = initial_state(size, variant), []
    while winner(state) is None:
        action = int(opening[len(actions)] if len(actions) < len(opening) else rng.choice(legal_actions(state)))
        actions.append(action)
        state = play(state, action)
    return tuple(actions), winner(state)


def record(gid, actions, winner, size=10, **other):
    fields = {"game": "amazons", "source": "engine", "variant": "standard", "height": size, "width": size, **other}
    return GameRecord(gid=gid, actions=actions, winner=winner, **fields)


def random_records(count, seed=0, size=10, **other):
    rng = np.random.default_rng(seed)
    return [record(100 + 3 * i, *random_game(rng, size), size, **other) for i in range(count)]


def slow_samples(game):
    """The samples of a record as dicts, by the Python face of the rules."""
    size, state, samples = game.width, initial_state(game.width, game.variant), []
    for ply, action in enumerate(game.actions):
        start, to, arrow = action // size**4, action // size**2 % size**2, action % size**2
        (x1, y1), (x2, y2), (x3, y3) = ((s % size, size - 1 - s // size) for s in (start, to, arrow))
        of_game = {
            "mover": COLOUR[to_play(state)],
            "result": int(game.winner == ("first", "second")[to_play(state)]),
            "gid": game.gid,
            "ply": ply,
            "teacher": 1,
        }
        before = {"from_": [x1, y1], "to": [x2, y2], "arrow": [-1, -1], "moved": [-1, -1]}
        after = {"from_": [-1, -1], "to": [-1, -1], "arrow": [x3, y3], "moved": [x2, y2]}
        half = move(state, start, to)
        samples.append({"board": state.board[::-1].tolist(), "type": 0, **before, **of_game})
        samples.append({"board": half.board[::-1].tolist(), "type": 1, **after, **of_game})
        state = play(state, action)
    return samples


def slow_canonical(board, mover):
    """The same for all symmetric forms of a position, and for no other."""
    turned = [np.rot90(form, k) for form in (board, board[:, ::-1]) for k in range(4)]
    return min(form.tobytes() for form in turned), int(mover)


# A data set of a few random games on the small board, and params that train on it in a second.


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
