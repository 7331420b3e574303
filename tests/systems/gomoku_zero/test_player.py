from pathlib import Path

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import GomokuState, from_fen
from pipeline_src.players.player import Bounds, Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.search.limits import Clock, Limit
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Puct
from pipeline_src.search.mcts.puct_trees import PuctTrees
from pipeline_src.systems.gomoku_zero.models import export_onnx, load_model, save_model
from pipeline_src.systems.gomoku_zero.player import ZeroPlayer
from tests.systems.gomoku_zero.nets import SMALL, fresh


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(tmp_path / "model.pt", fresh(SMALL["plain"]), variant="freestyle-4")
    return tmp_path / "model.pt"


def random_states(count: int, variant: str = "freestyle-4") -> list[GomokuState]:
    rng, states = np.random.default_rng(0), []
    while len(states) < count:
        state = gomoku.initial_state(6, variant)
        for _ in range(int(rng.integers(0, 12))):
            if gomoku.winner(state) is None:
                last, state = state, gomoku.play(state, int(rng.choice(gomoku.legal_actions(state))))
        states.append(state if gomoku.winner(state) is None else last)
    return states


def positions(states: list[GomokuState], seed: int = 1, clock: Clock | None = None) -> list[Position]:
    return [Position(state, np.random.default_rng(seed + i), clock=clock) for i, state in enumerate(states)]


def player(text: str) -> ZeroPlayer:
    made = make_player("gomoku", text)
    assert isinstance(made, ZeroPlayer)
    return made


@pytest.mark.parametrize("options", ["", ",leaves=3", ",backend=torch", ",backend=onnx-int8"])
def test_actions_are_legal_and_independent_of_batch(model: Path, options: str) -> None:
    states = random_states(7)
    some = player(f"zero:{model},simulations=24,chunk=4{options}")
    actions = some.choose(positions(states, seed=3))
    assert all(gomoku.is_legal(state, action) for state, action in zip(states, actions, strict=True))
    assert len(set(actions)) > 2
    assert [some.choose(positions([state], seed=9))[0] for state in states] == actions
    assert some.choose(positions(states[2:5])) == actions[2:5]


def test_it_is_puct_over_the_net(model: Path) -> None:
    states = random_states(5)
    some = player(f"zero:{model},simulations=40,c=2.5,fpu=0.2")
    puct = Puct(some.puct.evaluate_batch, PuctOptions(c=2.5, c_base=0.0, fpu=0.2), nodes=64)
    found = puct.search_many(states, Limit(nodes=40))
    assert some.choose(positions(states)) == [result.action for result in found]


def test_an_exported_model_plays_the_same(model: Path) -> None:
    states = random_states(5)
    model.with_suffix(".onnx").write_bytes(export_onnx(load_model(model)))
    texts = [f"zero:{model},simulations=30,backend=onnx", f"zero:{model.with_suffix('.onnx')},simulations=30"]
    assert player(texts[0]).choose(positions(states)) == player(texts[1]).choose(positions(states))


def test_it_takes_a_win_and_stops_one(model: Path) -> None:
    wins, stops = from_fen("xxx3/ooo3/6/6/6/6 b freestyle-4"), from_fen("xxx3/oo4/6/6/6/6 w freestyle-4")
    some = player(f"zero:{model},simulations=400,fpu=-1")  # tries each move
    assert some.choose(positions([wins, stops])) == [3, 3]


@pytest.mark.parametrize(
    ("options", "caution"),
    [("", 1.0), (",movetime=50,fours=0", 1.0), (",movetime=50,caution=0.5", 0.5), (",simulations=20", 0.0)],
)
def test_caution_is_for_searches_that_are_not_a_nets_alone(model: Path, options: str, caution: float) -> None:
    assert player(f"zero:{model}{options}").puct.options.caution == caution


@pytest.mark.parametrize(
    ("options", "by_fours", "by_threats"),
    [
        ("", 40, 0),
        (",movetime=50", 40, 0),
        (",search=gumbel", 40, 0),
        (",simulations=20,fours=8", 8, 0),
        (",nodes=20,solver=50", 50, 50),
        (",solver=8,fours=30", 30, 8),
        (",simulations=20", None, None),
        (",nodes=20", None, None),
        (",search=none", None, None),
        (",fours=0,movetime=50", None, None),
    ],
)
def test_forced_wins_are_searched_unless_simulations_are_limited(
    model: Path, options: str, by_fours: int | None, by_threats: int | None
) -> None:
    evaluate = player(f"zero:{model}{options}").puct.evaluate_batch
    if by_fours is None:
        assert not isinstance(evaluate, ProvingEvaluator)
    else:
        assert isinstance(evaluate, ProvingEvaluator)
        assert evaluate.limits.tolist() == [by_fours, by_threats, False]


def test_a_rule_without_patterns_is_played_by_the_net_alone(tmp_path: Path) -> None:
    save_model(tmp_path / "model.pt", fresh(SMALL["plain"]), variant="freestyle-6")
    start = gomoku.initial_state(6, "freestyle-6")
    assert gomoku.is_legal(start, player(f"zero:{tmp_path / 'model.pt'}").choose(positions([start]))[0])
    with pytest.raises(ZugwerkError, match="lines of 3 to 5, not 6"):
        player(f"zero:{tmp_path / 'model.pt'},solver=20").choose(positions([start]))


def test_temperature_draws_by_the_game_s_own_generator(model: Path) -> None:
    start = gomoku.initial_state(6, "freestyle-4")
    warm = player(f"zero:{model},simulations=60,temperature=1,temperature_plies=2")
    many = warm.choose(positions([start] * 24))
    assert len(set(many)) > 3
    assert warm.choose(positions([start] * 24)) == many
    assert warm.choose(positions([start] * 5, seed=3)) == many[2:7]
    third = gomoku.play(gomoku.play(start, 0), 1)
    assert len(set(warm.choose(positions([third] * 8)))) == 1


def test_a_move_thought_of_alone_is_drawn_too(model: Path) -> None:
    start = gomoku.initial_state(6, "freestyle-4")
    warm = player(f"zero:{model},simulations=60,temperature=1")
    many = warm.choose(positions([start] * 12))
    assert len(set(many)) > 3
    assert [warm.think(position).action for position in positions([start] * 12)] == many
    limited = {warm.think(position, Bounds(nodes=60)).action for position in positions([start] * 12)}
    assert len(limited) == 1, "a limit from outside is that of a search, which plays its most visited move"


def test_a_move_thought_of_alone_is_halved_too(model: Path) -> None:
    states = random_states(12)
    some = player(f"zero:{model},search=gumbel,simulations=16,considered=8")
    assert [some.think(position).action for position in positions(states)] == some.choose(positions(states))


def test_boards_of_several_sizes_are_played_together() -> None:
    packaged = make_player("gomoku", "zero:simulations=8")
    states = [gomoku.initial_state(size) for size in (15, 20, 15, 9)]
    together = packaged.choose(positions(states))
    assert together == [packaged.choose(positions([state]))[0] for state in states]


def test_policy_alone_is_sampled_or_its_best_move_taken(model: Path) -> None:
    states = random_states(5)
    cold, warm = player(f"zero:{model},search=none"), player(f"zero:{model},search=none,temperature=0.5")
    trees = PuctTrees(states[0], 5, cold.puct.evaluate_batch, None, 2)
    for g, state in enumerate(states):
        trees.plant(g, state)
    trees.simulate(np.full(5, 1, np.int32))
    assert cold.choose(positions(states)) == [trees.likeliest(g) for g in range(5)]
    squared = trees.priors(0).astype(float) ** 2
    drawn = np.bincount(warm.choose(positions([states[0]] * 2000)), minlength=36)[trees.steps(0)]
    expected = 2000 * squared / squared.sum()
    assert (np.abs(drawn - expected) < 5 * np.sqrt(expected) + 1).all()
    assert not cold.searches
    timed = Position(states[0], np.random.default_rng(0), clock=Clock(1000, 1000))
    assert cold.choose([timed]) == [trees.likeliest(0)], "no clock makes it search"


def test_time_limits_hold_for_each_position(model: Path) -> None:
    states = random_states(2)
    timed = player(f"zero:{model},movetime=20")
    assert timed.limit == Limit(movetime_ms=20)
    for actions in (timed.choose(positions(states)), timed.choose(positions(states, clock=Clock(500, 500)))):
        assert all(gomoku.is_legal(state, action) for state, action in zip(states, actions, strict=True))


def test_a_search_can_be_limited_from_outside(model: Path) -> None:
    thought = player(f"zero:{model},fours=0").think(positions(random_states(1))[0], Bounds(nodes=50))
    assert thought.found is not None
    assert (thought.found.action, thought.found.nodes) == (thought.action, 50)


def test_other_boards_and_rules_are_refused(model: Path) -> None:
    some = player(f"zero:{model},simulations=4")
    for state, complaint in (
        (gomoku.initial_state(9), "a 9x9 board, but this model plays on 6x6"),
        (gomoku.initial_state(6), "variant freestyle of Gomoku, but this model plays freestyle-4"),
        (gomoku.initial_state(6, "exact-4"), "variant exact-4 of Gomoku, but this model plays freestyle-4"),
    ):
        with pytest.raises(ZugwerkError, match=complaint):
            some.choose(positions([state]))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("zero:nowhere.pt", r"nowhere\.pt: no such model"),
        ("zero:nowhere.onnx", r"nowhere\.onnx: no such model"),
        ("zero:MODEL,depth=3", "has no option 'depth'; its options: nodes, movetime, search"),
        ("zero:MODEL,simulations=5,nodes=5", "one option"),
        ("zero:MODEL,simulations=0", "simulations must be at least 1, not 0"),
        ("zero:MODEL,chunk=0", "chunk must be at least 1"),
        ("zero:MODEL,leaves=1.5", "leaves must be a whole number, not 1.5"),
        ("zero:MODEL,search=dice", "search is one of puct, gumbel, none, not 'dice'"),
        ("zero:MODEL,backend=tpu", "backend is one of auto, torch"),
        ("zero:MODEL,temperature=-1", "temperature must be at least 0"),
        ("zero:MODEL,temperature=1,movetime=20", "not of time"),
        ("zero:MODEL,search=gumbel,movetime=20", "excludes movetime and temperature"),
        ("zero:MODEL,search=gumbel,temperature=1", "excludes movetime and temperature"),
        ("zero:MODEL,search=none,simulations=5", "search=none has no simulations and no movetime"),
        ("zero:MODEL,search=gumbel,considered=0", "considered must be at least 1, not 0"),
        ("zero:MODEL,c=nan", "c must be at least 0, not nan"),
        ("zero:MODEL,speed=1", "no option 'speed'"),
    ],
)
def test_wrong_texts_are_refused(model: Path, text: str, complaint: str) -> None:
    with pytest.raises(ZugwerkError, match=complaint):
        player(text.replace("MODEL", str(model)))
