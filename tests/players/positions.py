"""Positions, small nets and data sets for the tests of players."""

import numpy as np
import torch

from pipeline_src.games import amazons
from pipeline_src.players.player import Position
from pipeline_src.records.record import write_records
from pipeline_src.systems.amazons_net.build import build_dataset, read_games
from pipeline_src.systems.amazons_net.nets import AmazonsConfig, AmazonsNets, ResidualConfig, ResidualNets
from pipeline_src.systems.amazons_net.samples import open_dataset
from tests.systems.amazons_net.positions import random_records


def small_nets(size=10, seed=0, **config):
    torch.manual_seed(seed)
    return AmazonsNets(AmazonsConfig(size=size, width=0.05, **config)).eval()


def small_residual(size=10, seed=0):
    torch.manual_seed(seed)
    return ResidualNets(ResidualConfig(size=size, channels=8, blocks=1, embedding=4)).eval()


def random_states(count, size=10, seed=0):
    """Unfinished positions of random games, from every phase: the plies are spread over each game."""
    rng, states = np.random.default_rng(seed), []
    while len(states) < count:
        line = [amazons.initial_state(size)]
        while amazons.winner(line[-1]) is None:
            line.append(amazons.play(line[-1], int(rng.choice(amazons.legal_actions(line[-1])))))
        states += [*line[: -1 : max(1, len(line) // 6)], line[-2]]
    return states[:count]


def positions(states, seed=0):
    """As a player is handed them."""
    return [Position(state, np.random.default_rng([seed, i])) for i, state in enumerate(states)]


def small_dataset(folder, games=20, size=10, shares=(7, 2, 1), seed=0):
    """A data set of random games."""
    path = folder / "games.parquet"
    write_records(random_records(games, seed, size), path)
    archive = read_games(path, size, ("standard",))
    build_dataset(archive, folder / "samples", size=size, variants=("standard",), shares=shares, seed=1)
    return open_dataset(folder / "samples")
