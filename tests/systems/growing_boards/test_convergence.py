import pytest

from pipeline_src.systems.growing_boards.growth import Progress, has_converged
from pipeline_src.systems.growing_boards.params import GrowingConvergence

PARAMS = GrowingConvergence(span=3, loss_drop=0.02, score_gain=0.05)


def run(losses, scores):
    return [Progress(loss, 20 * score, 20) for loss, score in zip(losses, scores, strict=True)]


def ends_at(history):
    """The number of generations after which a run ends; None for never."""
    return next((n for n in range(1, len(history) + 1) if has_converged(history[:n], PARAMS)), None)


def test_a_run_whose_loss_falls_goes_on_though_no_gate_is_won():
    assert ends_at(run([4 * 0.95**n for n in range(30)], [0.5] * 30)) is None


def test_a_run_that_wins_its_gates_goes_on_though_the_loss_stands_still():
    assert ends_at(run([3.0] * 30, [0.6] * 30)) is None


def test_a_run_that_stands_still_ends_after_two_spans():
    assert ends_at(run([3.0] * 30, [0.5] * 30)) == 6
    assert ends_at(run([3.0 + 0.1 * n for n in range(30)], [0.3] * 30)) == 6  # and so does one that gets worse


def test_a_run_ends_where_the_progress_does():
    losses = [4.0, 3.6, 3.3, 3.0, 2.8, 2.7, 2.65] + [2.64] * 10
    scores = [0.9, 0.8, 0.7, 0.7, 0.6, 0.65, 0.6] + [0.5, 0.55, 0.45] * 4
    assert (
        ends_at(run(losses, scores[: len(losses)])) == 11
    )  # the three before are the first that a span differs little from


def test_one_lucky_gate_is_no_progress():
    assert ends_at(run([3.0] * 6, [0.5, 0.5, 0.5, 0.45, 0.65, 0.5])) == 6


@pytest.mark.parametrize("bad", [{"span": 0}, {"loss_drop": -0.1}, {"loss_drop": 1.5}, {"score_gain": 0.6}])
def test_params_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        GrowingConvergence(**bad)
