import torch

from pipeline_src.systems.amazons_net.heads import gather_rows, masked_log_softmax


def test_all_probability_is_on_legal_entries() -> None:
    logits = torch.tensor([[5.0, 1.0, 2.0, -1.0]])
    legal = torch.tensor([[False, True, True, False]])
    p = masked_log_softmax(logits, legal).exp()
    torch.testing.assert_close(p[0, 1:3], torch.softmax(torch.tensor([1.0, 2.0]), 0))
    assert p[0, 0] == 0
    assert p[0, 3] == 0


def test_the_softmax_runs_over_all_rows_together() -> None:
    p = masked_log_softmax(torch.randn(3, 4, 100), torch.rand(3, 4, 100) < 0.2).exp()
    torch.testing.assert_close(p.sum((1, 2)), torch.ones(3))


def test_gradients_are_finite_and_zero_on_illegal_entries() -> None:
    logits = torch.randn(2, 4, 9, requires_grad=True)
    legal = torch.zeros(2, 4, 9, dtype=torch.bool)
    legal[0, 1, 3] = legal[0, 2, 5] = legal[1, 0, 0] = True
    log_p = masked_log_softmax(logits, legal)
    (-log_p[0, 1, 3] - log_p[1, 0, 0] + log_p.exp().sum()).backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert not logits.grad[~legal].any()
    assert logits.grad[0, 1, 3] != 0


def test_a_position_without_legal_entries_gives_no_nan() -> None:
    logits = torch.randn(2, 6, requires_grad=True)
    legal = torch.tensor([[False] * 6, [True] * 6])
    log_p = masked_log_softmax(logits, legal)
    assert (log_p[0] == -torch.inf).all()
    log_p.exp().square().sum().backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert not logits.grad[0].any()


def test_half_precision_logits_are_normalised_in_single() -> None:
    log_p = masked_log_softmax(torch.randn(2, 50, dtype=torch.bfloat16), torch.ones(2, 50, dtype=torch.bool))
    assert log_p.dtype == torch.float32
    torch.testing.assert_close(log_p.exp().sum(1), torch.ones(2))


def test_rows_are_those_of_the_pieces() -> None:
    logits = torch.arange(2 * 9 * 9).view(2, 81).float()
    rows = gather_rows(logits, torch.tensor([[0, 4], [8, 1]], dtype=torch.int16))
    assert rows.shape == (2, 2, 9)
    assert rows[0, 1].tolist() == [4 * 9 + t for t in range(9)]
    assert rows[1, 0].tolist() == [81 + 8 * 9 + t for t in range(9)]


def test_leaving_illegal_rows_out_changes_no_probability() -> None:
    logits, rows = torch.randn(5, 81), torch.tensor([[0, 4]] * 5)
    legal = torch.rand(5, 2, 9) < 0.5
    legal[:, 0, 1] = True
    whole = torch.zeros(5, 9, 9, dtype=torch.bool)
    whole[:, [0, 4]] = legal
    expected = masked_log_softmax(logits, whole.view(5, 81)).view(5, 9, 9)[:, [0, 4]]
    torch.testing.assert_close(masked_log_softmax(gather_rows(logits, rows), legal), expected)
