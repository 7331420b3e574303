import math

import pytest
import torch

from pipeline_src.systems.amazons_net.losses import (
    POLICY_LOSSES,
    Played,
    argmax_choice,
    coordinates,
    cross_entropy,
    expected_distance,
    soft_argmax,
    squared_error,
    value_cross_entropy,
    value_error,
)
from pipeline_src.systems.amazons_net.nets import masked_log_softmax

SIZE = 5
PLACES = coordinates(SIZE)


def place(square):
    return square % SIZE + 1, square // SIZE + 1


@pytest.fixture
def batch():
    torch.manual_seed(2)
    legal = torch.rand(6, 4, SIZE * SIZE) < 0.3
    rows = torch.stack([torch.randperm(SIZE * SIZE)[:4].sort().values for _ in range(6)])
    row, to = torch.randint(0, 4, (6,)), torch.randint(0, SIZE * SIZE, (6,))
    legal[torch.arange(6), row, to] = True
    logits = torch.randn(6, 4, SIZE * SIZE, requires_grad=True)
    return logits, masked_log_softmax(logits, legal), Played(rows, row, to)


def slow(log_p, played, b):
    """(probability, start, end) of each legal entry, and the played squares."""
    log_p = log_p.detach()
    entries = [
        (math.exp(log_p[b, k, n]), place(int(played.rows[b, k])), place(n))
        for k in range(log_p.shape[1])
        for n in range(log_p.shape[2])
        if log_p[b, k, n] > -math.inf
    ]
    return entries, place(int(played.rows[b, played.row[b]])), place(int(played.to[b]))


def test_coordinates_are_file_and_rank_from_1():
    assert coordinates(10)[[0, 9, 94, 99]].tolist() == [[1, 1], [10, 1], [5, 10], [10, 10]]


def test_soft_argmax_replaces_predicted_by_expected_coordinates(batch):
    _, log_p, played = batch
    for b, found in enumerate(soft_argmax(log_p, played, PLACES).tolist()):
        entries, start, end = slow(log_p, played, b)
        mean_start = [sum(p * s[i] for p, s, _ in entries) for i in (0, 1)]
        mean_end = [sum(p * e[i] for p, _, e in entries) for i in (0, 1)]
        assert found == pytest.approx((math.dist(mean_start, start) + math.dist(mean_end, end)) ** 2, rel=1e-4)


def test_expected_distance_weighs_both_distances_by_probability(batch):
    _, log_p, played = batch
    for b, found in enumerate(expected_distance(log_p, played, PLACES).tolist()):
        entries, start, end = slow(log_p, played, b)
        assert found == pytest.approx(
            sum(p * (math.dist(s, start) + math.dist(e, end)) for p, s, e in entries), rel=1e-4
        )


def test_cross_entropy_is_that_of_the_played_entry(batch):
    _, log_p, played = batch
    found = cross_entropy(log_p, played, PLACES)
    for b in range(6):
        assert found[b] == -log_p[b, played.row[b], played.to[b]]


def test_the_printed_distance_is_the_argmaxs(batch):
    _, log_p, played = batch
    choice = argmax_choice(log_p, played, PLACES)
    for b in range(6):
        entries, start, end = slow(log_p, played, b)
        _, best_start, best_end = max(entries)
        assert choice.distance[b] == pytest.approx(math.dist(best_start, start) + math.dist(best_end, end), rel=1e-5)
        assert choice.right[b] == ((best_start, best_end) == (start, end))


def test_an_arrow_has_one_distance():
    log_p = masked_log_softmax(
        torch.zeros(1, 1, 25).index_fill(2, torch.tensor([24]), 50.0), torch.ones(1, 1, 25).bool()
    )
    played = Played(torch.tensor([[12]]), torch.tensor([0]), torch.tensor([20]))  # a5, where the net says e5
    assert argmax_choice(log_p, played, PLACES).distance.item() == 4
    assert soft_argmax(log_p, played, PLACES).item() == pytest.approx(16, rel=1e-4)
    assert expected_distance(log_p, played, PLACES).item() == pytest.approx(4, rel=1e-4)


@pytest.mark.parametrize("name", POLICY_LOSSES)
def test_gradients_are_finite_and_favour_the_played_turn(name, batch):
    logits, log_p, played = batch
    POLICY_LOSSES[name](log_p, played, PLACES).sum().backward()
    assert logits.grad.isfinite().all()
    assert logits.grad.any()
    if name != "soft_argmax":  # it may like two squares on both sides better
        assert (logits.grad[torch.arange(6), played.row, played.to] < 0).all()


@pytest.mark.parametrize("name", POLICY_LOSSES)
def test_certain_right_answer_has_zero_loss_and_finite_gradients(name):
    logits = torch.zeros(1, 4, 25, requires_grad=True)
    legal = torch.zeros(1, 4, 25, dtype=torch.bool)
    legal[0, 2, 7] = True
    played = Played(torch.tensor([[0, 5, 9, 13]]), torch.tensor([2]), torch.tensor([7]))
    loss = POLICY_LOSSES[name](masked_log_softmax(logits, legal), played, PLACES).sum()
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-5)
    assert logits.grad.isfinite().all()


def test_l1_is_on_the_chance_to_win():
    error = value_error(torch.tensor([0.0, 100.0, -100.0]), torch.tensor([1.0, 1.0, 1.0]))
    assert error.tolist() == pytest.approx([0.5, 0.0, 1.0])


def test_value_losses_use_probability_of_the_result():
    logits, won = torch.tensor([-30.0, -1.0, 0.0, 2.0, 40.0]), torch.tensor([0.0, 1.0, 1.0, 0.0, 0.0])
    chance = torch.where(won > 0, logits.double().sigmoid(), (-logits.double()).sigmoid())
    torch.testing.assert_close(squared_error(logits, won), (1 - chance).square().float())
    torch.testing.assert_close(value_cross_entropy(logits, won), -chance.log().float())
