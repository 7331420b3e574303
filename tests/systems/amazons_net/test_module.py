import pytest
import torch

from pipeline_src.systems.amazons_net.batches import Plan
from pipeline_src.systems.amazons_net.data import StepInput, net_input
from pipeline_src.systems.amazons_net.losses import POLICY_LOSSES
from pipeline_src.systems.amazons_net.module import MEASURES, AmazonsModule
from pipeline_src.systems.amazons_net.readings import MODELS
from tests.systems.amazons_net.samples import params


def module_and_batch(dataset, model, count, **changed):
    torch.manual_seed(4)
    section = params(model, **{"dropout": 0.0, **changed})
    nets = MODELS[model].make(section, 6)
    step = Plan(dataset, batch=count, seed=3, augment=False).step(0)
    batch = StepInput(0, *(net_input(positions, torch.device("cpu"), nets.config) for positions in step[1:]))
    return AmazonsModule(nets, section, model=model, total_steps=100), batch


@pytest.mark.parametrize(("model", "rate"), [("cross_entropy", 3e-4), ("residual", 1e-2)])
def test_both_nets_learn_one_batch_by_heart(dataset, model, rate):
    module, batch = module_and_batch(dataset, model, 12, width=0.1, channels=16, schedule="constant", warmup=0.0)
    optimizer = module.configure_optimizers()["optimizer"]
    for group in optimizer.param_groups:
        group["lr"] = rate
    for _ in range(150):
        move, arrow = module.answer(batch)
        loss = move.loss + arrow.loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    module.eval()
    with torch.no_grad():
        for net, answer in zip(("move", "arrow"), module.answer(batch), strict=True):
            count, *sums = answer.sums.tolist()
            means = dict(zip(MEASURES, (s / count for s in sums), strict=True))
            assert means["top1"] > 0.9, (net, means)
            assert means["value_accuracy"] == 1.0, (net, means)


@pytest.mark.parametrize("loss", POLICY_LOSSES)
def test_the_loss_is_l1_squared_plus_the_reading_of_l2(dataset, loss):
    module, batch = module_and_batch(dataset, loss, 8, value_weight=3.0)
    answer = module.answer(batch)[1]
    value, logits = module.nets.arrow(batch.arrow.features)
    log_p = logits[:, None].masked_fill(~batch.arrow.legal, -torch.inf).flatten(1).log_softmax(1).view(8, 1, 36)
    expected = 3 * (batch.arrow.won - value.sigmoid()).square()
    expected = expected + POLICY_LOSSES[loss](log_p, batch.arrow.played, module.places)
    torch.testing.assert_close(answer.loss, expected.mean())


def test_the_residual_nets_loss_is_two_cross_entropies(dataset):
    module, batch = module_and_batch(dataset, "residual", 8, value_weight=3.0)
    module.eval()
    answer = module.answer(batch)[1]
    value, logits = module.nets.arrow(batch.arrow.features)
    expected = []
    for b in range(8):
        chance = value[b].sigmoid() if batch.arrow.won[b] else 1 - value[b].sigmoid()
        log_p = logits[b, batch.arrow.legal[b, 0]].log_softmax(0)
        to = int(batch.arrow.legal[b, 0, : batch.arrow.played.to[b]].sum())  # among the legal squares
        expected.append(-3 * chance.log() - log_p[to])
    torch.testing.assert_close(answer.loss, torch.stack(expected).mean())


def test_measures_are_means_over_samples_and_start_anew(dataset):
    module, batch = module_and_batch(dataset, "cross_entropy", 16)
    part = batch._replace(
        amazon=net_input(Plan(dataset, batch=5, seed=3, augment=False).step(0)[1], torch.device("cpu"))
    )
    with torch.no_grad():
        for inputs in (batch, part):
            module.validation_step(inputs, 0)
        sums = [module.answer(b)[0].sums for b in (batch, part)]
    measured = module.take_measures()
    assert sums[0][0] + sums[1][0] == 21
    assert measured["validation_move_loss"] == pytest.approx((sums[0][1] + sums[1][1]).item() / 21)
    assert measured["validation_loss"] == measured["validation_move_loss"] + measured["validation_arrow_loss"]
    assert 0 <= measured["validation_arrow_top1"] <= 1
    assert not module.validation_sums.any()


def test_the_printed_error_of_a_certain_wrong_value(dataset):
    module, batch = module_and_batch(dataset, "cross_entropy", 8)
    with torch.no_grad():
        module.nets.move_value.output.weight.zero_()
        module.nets.move_value.output.bias.fill_(50.0)
        module.validation_step(batch, 0)
    lost = 1 - batch.amazon.won.mean().item()
    measured = module.take_measures()
    for name, expected in {"l1": lost, "l1_squared": lost, "value_accuracy": 1 - lost}.items():
        assert measured[f"validation_move_{name}"] == pytest.approx(expected), name


def test_a_batch_of_another_step_is_refused(dataset):
    module, batch = module_and_batch(dataset, "cross_entropy", 8)
    with pytest.raises(AssertionError, match="batch of step 7 came to step 0"):
        module.training_step(batch._replace(step=7), 0)


def test_turns_of_no_weight_teach_the_value_alone(dataset):
    module, batch = module_and_batch(dataset, "residual", 8)
    weight = torch.tensor([2.0, 0.0] * 4)
    weighed = batch._replace(arrow=batch.arrow._replace(policy_weight=weight))
    module.eval()
    answer, plain = module.answer(weighed)[1], module.answer(batch)[1]
    value, logits = module.nets.arrow(batch.arrow.features)
    log_p = logits[:, None].masked_fill(~batch.arrow.legal, -torch.inf).flatten(1).log_softmax(1).view(8, 1, 36)
    policy = POLICY_LOSSES["cross_entropy"](log_p, batch.arrow.played, module.places)
    values = torch.nn.functional.binary_cross_entropy_with_logits(value, batch.arrow.won)
    torch.testing.assert_close(answer.loss, values + policy[::2].mean())
    found, expected = (dict(zip(MEASURES, sums[1:].tolist(), strict=True)) for sums in (answer.sums, plain.sums))
    assert found["l1"] == expected["l1"]
    assert found["value_accuracy"] == expected["value_accuracy"]
    assert found["l2"] != expected["l2"]
