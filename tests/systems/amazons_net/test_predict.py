from dataclasses import replace

import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons as rules
from pipeline_src.systems.amazons_net import evaluate as amazons_predict
from pipeline_src.systems.amazons_net.answers import after_move
from pipeline_src.systems.amazons_net.encode import encode
from pipeline_src.systems.amazons_net.evaluate import predict_nets
from pipeline_src.systems.amazons_net.forward import NetsForward
from pipeline_src.systems.amazons_net.nets import AmazonsConfig
from pipeline_src.systems.amazons_net.player import NetsPlayer
from pipeline_src.systems.amazons_net.recorded import recorded_turns, top_hits
from tests.players.positions import small_dataset, small_nets, small_residual

SIZE, N = 6, 36


class FakeNets(torch.nn.Module):
    """Logits that are linear in the features, so that policies are peaked; with turns, an oracle."""

    def __init__(self, turns=None, confidence=0.0, noise=1.0, size=SIZE):
        super().__init__()
        self.config = AmazonsConfig(size=size)
        rng, n = torch.Generator().manual_seed(5), size * size
        self.weights = torch.nn.ParameterDict(
            {k: torch.randn(4 * n, m, generator=rng) * noise / 250 for k, m in (("move", n * n), ("arrow", n))}
        )
        self.known = {}
        if turns is not None:
            before = encode(turns.boards, turns.movers, np.full(len(turns), -1, np.int16)).features
            boards = after_move(turns.boards, turns.movers, turns.start, turns.to)
            after = encode(boards, turns.movers, turns.to).features
            sign = 2.0 * turns.results - 1
            for i in range(len(turns)):
                entries = ((before, int(turns.start[i]) * n + int(turns.to[i])), (after, int(turns.arrow[i])))
                for features, entry in entries:
                    self.known[features[i].tobytes()] = (entry, confidence, float(sign[i]) * confidence)

    def answer(self, features, which):
        logits, value = features.flatten(1) @ self.weights[which], features.mean((1, 2, 3)) / 100 - 0.9
        for i, row in enumerate(features):
            entry, bonus, sure = self.known.get(row.numpy().tobytes(), (0, 0.0, 0.0))
            logits[i, entry] += bonus
            value[i] += sure
        return value, logits

    def move(self, features):
        return self.answer(features, "move")

    def arrow(self, features):
        return self.answer(features, "arrow")


@pytest.fixture(scope="module")
def turns(tmp_path_factory):
    return recorded_turns(small_dataset(tmp_path_factory.mktemp("data"), 40, SIZE, shares=(1, 1, 2)), "test")[0]


def slow(nets, turns):
    """Each position by itself, each move of the beam by itself, legality from the rules."""
    found = []
    for row, state in enumerate(turns.states()):
        mover = turns.movers[row : row + 1]

        def ask(state, moved, mover=mover):
            encoded = encode(state.board[None, ::-1], mover, np.array([moved], np.int16))
            value, logits = (nets.move if moved < 0 else nets.arrow)(torch.from_numpy(encoded.features))
            return float(value.sigmoid()), logits[0]

        def arrows(move, state=state, ask=ask):
            legal = [int(a) % N for a in rules.legal_actions(state) if a // N == move]
            value, logits = ask(rules.move(state, move // N, move % N), move % N)
            return value, dict(zip(legal, logits[legal].log_softmax(0).tolist(), strict=True))

        value_before, logits = ask(state, -1)
        moves = rules.legal_moves(state).tolist()
        log_p = dict(zip(moves, logits[moves].log_softmax(0).tolist(), strict=True))
        played, arrow = int(turns.start[row]) * N + int(turns.to[row]), int(turns.arrow[row])
        beam = sorted(moves, key=lambda m, p=log_p: -p[m])[:5]
        value, of_played = arrows(played)
        joint = {(m, a): log_p[m] + p for m in beam for a, p in arrows(m)[1].items()}
        best_turns = sorted(joint, key=lambda t, j=joint: -j[t])[:5]
        best_arrow = max(of_played, key=lambda a, p=of_played: p[a])

        def distance(a, b):
            return np.hypot(a % SIZE - b % SIZE, a // SIZE - b // SIZE)

        found.append(
            {
                "from_to_top1": beam[0] == played,
                "from_to_top5": played in beam,
                "arrow_top1": best_arrow == arrow,
                "arrow_top5": arrow in sorted(of_played, key=lambda a, p=of_played: -p[a])[:5],
                "turn_top1": beam[0] == played and best_arrow == arrow,
                "turn_top5": (played, arrow) in best_turns,
                "legal_rate": True,
                "value": value,
                "value_before": value_before,
                "move_l2": distance(beam[0] // N, played // N) + distance(beam[0] % N, played % N),
                "arrow_l2": distance(best_arrow, arrow),
            }
        )
    return {name: np.array([row[name] for row in found], float) for name in found[0]}


@pytest.mark.parametrize("confidence", [0.0, 3.0])
def test_predictions_are_those_of_a_slow_reference(turns, confidence):
    nets, some = FakeNets(turns, confidence), turns.spread(150)
    found = predict_nets(NetsForward(nets, 64, threads=1), some)
    expected = slow(nets, some)
    for name, values in {**found.rates, **found.win_rates}.items():
        assert np.allclose(values, expected[name], atol=1e-6), name
    for name in ("move_l2", "arrow_l2"):
        assert np.allclose(found.errors[name], expected[name]), name
    loss = (some.results - expected["value_before"]) ** 2 + expected["move_l2"] ** 2
    assert np.allclose(found.errors["move_loss"], loss)
    loss = (some.results - expected["value"]) ** 2 + expected["arrow_l2"] ** 2
    assert np.allclose(found.errors["arrow_loss"], loss)
    if confidence:  # the beam is put to work: some turns are in it and are not among its best five
        assert 0.05 < (found.rates["from_to_top5"] - found.rates["turn_top5"]).mean() < 0.9


def test_oracle_scores_perfectly(turns):
    game = turns.take(turns.gids == turns.gids[0])
    found = predict_nets(NetsForward(FakeNets(game, confidence=80.0), 16, threads=1), game)
    assert {name: values.min() for name, values in found.rates.items()} == dict.fromkeys(found.rates, 1.0)
    for values in found.win_rates.values():
        assert np.allclose(values, game.results)
    for values in found.errors.values():
        assert np.allclose(values, 0, atol=1e-12)


def test_equal_moves_are_scored_by_expectation(turns):
    """Nets that know nothing: every legal move is as likely as every other."""
    found = predict_nets(NetsForward(FakeNets(noise=0.0), 64, threads=1), turns)
    for row, state in enumerate(turns.states()):
        moves, actions = sorted(rules.legal_moves(state)), rules.legal_actions(state)
        arrows = (actions // N == turns.actions()[row] // N).sum()
        assert found.rates["from_to_top1"][row] == 1 / len(moves)
        assert found.rates["from_to_top5"][row] == min(1, 5 / len(moves))
        assert found.rates["arrow_top5"][row] == min(1, 5 / arrows)
        assert found.rates["turn_top1"][row] == pytest.approx(1 / len(moves) / arrows)
        # Whole turns are likelier the fewer arrows their move leaves; the beam is the first five moves.
        shots = [(actions // N == move).sum() for move in moves[:5]]
        in_beam = turns.actions()[row] // N in moves[:5]
        better, equal = sum(s for s in shots if s < arrows), sum(s for s in shots if s == arrows)
        assert found.rates["turn_top5"][row] == (np.clip((5 - better) / equal, 0, 1) if in_beam else 0)


@pytest.mark.parametrize("make", [small_nets, small_residual])
def test_net_turns_are_the_players_and_legality_is_counted(turns, monkeypatch, make):
    nets, asked = make(SIZE), []

    def is_legal(state, action):
        asked.append(action)
        return len(asked) % 4 != 0 and rules.is_legal(state, action)

    monkeypatch.setattr(amazons_predict, "is_legal", is_legal)
    found = predict_nets(NetsForward(nets, 16, threads=1), turns)
    assert asked == [turn.action for turn in NetsPlayer(NetsForward(nets, 16)).turns(list(turns.states()))]
    assert found.rates["legal_rate"].sum() == len(turns) - len(turns) // 4


def test_result_is_independent_of_chunks(turns, monkeypatch):
    # More rows than two vectors of AVX-512 hold, and chunks that do not fill them: their ends are computed otherwise.
    nets = NetsForward(small_nets(SIZE), 64, threads=1)
    whole = predict_nets(nets, turns)
    monkeypatch.setattr(amazons_predict, "CHUNK", 37)
    parts = predict_nets(nets, turns)
    for kind in ("rates", "win_rates", "errors"):
        for name, values in getattr(whole, kind).items():
            assert np.array_equal(values, getattr(parts, kind)[name])


@pytest.mark.parametrize("field", ["start", "to", "arrow"])
def test_an_illegal_turn_in_the_data_is_named(turns, field):
    wrong = getattr(turns, field).copy()
    wrong[7] = turns.start[7] if field != "start" else turns.to[7]
    if field == "arrow":
        wrong[7] = turns.to[7]
    bad = replace(turns, **{field: wrong})
    with pytest.raises(ZugwerkError, match=f"game {turns.gids[7]}, ply {turns.plies[7]}: .* is not legal there"):
        predict_nets(NetsForward(small_nets(SIZE), 16, threads=1), bad)


def test_nets_for_other_sizes_are_refused(turns):
    with pytest.raises(ZugwerkError, match="6x6 board, but these nets play on 8x8"):
        predict_nets(NetsForward(small_nets(8), 16, threads=1), turns)


@pytest.mark.parametrize(
    ("better", "equal", "k", "chance"),
    [(0, 1, 1, 1), (1, 1, 1, 0), (0, 4, 1, 0.25), (3, 4, 5, 0.5), (4, 1, 5, 1), (5, 3, 5, 0), (0, 3, 5, 1)],
)
def test_ties_are_scored_by_expectation(better, equal, k, chance):
    assert top_hits([better], [equal], k).tolist() == [chance]
