"""A generation's training on the replay window."""

from typing import Any

import torch

from pipeline_src import streams
from pipeline_src.files import write_json, write_table
from pipeline_src.systems.gomoku_zero.learner import load_learner, save_learner
from pipeline_src.systems.gomoku_zero.models import load_model, make_config, make_net, save_model
from pipeline_src.systems.gomoku_zero.positions import positions
from pipeline_src.systems.gomoku_zero.train import train_generation
from pipeline_src.systems.gomoku_zero.window import open_window
from pipeline_src.systems.gomoku_zero.work import Work


def learn(work: Work) -> None:
    """Train the newest net on; write ``model.pt``, ``learner.pt``, ``curves.csv`` and ``train_result.json``.

    The first round begins with fresh weights or with a given model, every other one with the net that the previous
    round trained, whether or not that became the best player.
    """
    setting, made = work.setting, work.round
    size = setting.game.size_of(work.number)
    torch.set_num_threads(setting.train.threads)  # the weights depend on it
    seen = positions(open_window(made.window), setting.net.positions)
    learner = load_learner(work.before.learner) if work.before else None
    begins = work.before.model if work.before else work.start
    if begins:
        net: Any = load_model(begins).net
        if setting.net.kind == "lines":
            net.config = make_config(setting.net, size, size)
    else:
        torch.manual_seed(setting.seed * 1009 + streams.FIRST_NET)
        net = make_net(make_config(setting.net, size, size))
    trained = train_generation(
        net,
        seen,
        setting.train,
        seed=setting.seed,
        generation=work.number,
        count=work.count,
        folder=work.folder / "training",
        learner_state=learner,
    )
    save_model(made.model, net, variant=setting.game.variant)
    save_learner(made.learner, trained.learner_state)
    write_table(work.folder / "curves.csv", trained.rows)
    write_json(work.folder / "train_result.json", trained.metrics)
    write_json(work.folder / "training.json", trained.timings)
