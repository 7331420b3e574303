"""Trainings that end in mid-course as if the process had been killed."""


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
