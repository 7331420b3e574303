"""Stages of dvc.yaml in tests: their command, and what a kill at nine tenths leaves."""

import sys

import numpy as np
import pytest

from pipeline_src.arena.journal import Journal
from pipeline_src.parallel.tasks import Batches


def stage_command(name, *options):
    """The command that dvc.yaml has for a stage, ``systems.amazons_net.train`` for instance."""
    return [sys.executable, "-m", "pipeline_src.stage", name, *options]


UNIT = 3  # Largest batch of a run that is killed, so that something is left to do


def split_at_random(patch, seed=1, most=7):
    """Let tasks run in batches of random sizes up to ``most``, whatever the workers."""
    rng = np.random.default_rng(seed)

    def take(self, _workers):
        return [self._waiting.popleft() for _ in range(min(int(rng.integers(1, most + 1)), len(self._waiting)))]

    patch.setattr(Batches, "take", take)


def check_kill(monkeypatch, run):
    """Check that ``run``, which returns what was written, leaves the same where it is killed at nine tenths.

    Only the tasks that are missing may run in the second part.
    """
    add = Journal.add

    def kept(most=None, seed=None):
        """Run; return the keys of the tasks that finished, and what was written."""
        keys, written = [], None

        def note(self, entries):
            add(self, entries)
            keys.extend(entries)
            if most is not None and len(keys) >= most:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Journal, "add", note)
            if seed is not None:
                split_at_random(patch, seed, UNIT)
            if most is None:
                written = run()
            else:
                with pytest.raises(KeyboardInterrupt):
                    run()
        return keys, written

    tasks, whole = kept()
    before, _ = kept(most=min(round(0.9 * len(tasks)), len(tasks) - UNIT), seed=1)
    after, again = kept(seed=2)
    assert again == whole
    assert 0 < len(before) < len(tasks)
    assert sorted(before + after) == sorted(tasks)


# Trainings that end in mid-course as if the process had been killed.


class KilledError(Exception):
    """Stands for a SIGKILL: nothing of ours catches it."""


def stop_in_step(monkeypatch, module, number):
    """Die in the step with a number of the training of a Lightning module."""
    step = module.training_step

    def killed(self, batch, batch_idx):
        if self.global_step == number:
            raise KilledError
        return step(self, batch, batch_idx)

    monkeypatch.setattr(module, "training_step", killed)
