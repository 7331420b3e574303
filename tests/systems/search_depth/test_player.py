"""Nets that choose a depth, and players that ask them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.limits import Clock, Limit, Line, SearchResult
from pipeline_src.systems.search_depth.net import (
    SEARCHES,
    DepthModel,
    PublishedDepthConfig,
    ResidualDepthConfig,
    SavedDepthNet,
    chosen_depths,
    depth_value,
    load_depth_model,
    load_depth_net,
    make_depth_net,
    save_depth_net,
)
from pipeline_src.systems.search_depth.params import DepthGame
from pipeline_src.systems.search_depth.player import Choice, DepthMove, DepthPlayer, SquareSearch, TableDepth
from pipeline_src.systems.search_depth.positions import depth_planes
from tests.systems.search_depth.synthetic import GAME, chooser, searcher

MODELS = {
    "stride": (PublishedDepthConfig(10, 1, 1, filters=3), "linear", "published"),
    "pooling": (PublishedDepthConfig(10, 1, 5, filters=3, shrink="pooling"), "classes", "published"),
    "dense": (PublishedDepthConfig(10, 7, 1, filters=3, shrink="dense"), "sigmoid", "full"),
    "residual": (ResidualDepthConfig(10, 7, 5, channels=4, blocks=2), "classes", "full"),
    "costs": (ResidualDepthConfig(10, 7, 6, channels=4, blocks=1), "costs", "full"),
}


def fresh(config):
    torch.manual_seed(1)
    net = make_depth_net(config)
    with torch.no_grad():
        for weight in net.parameters():
            weight.normal_(0, 0.3)
    return net.eval()


def saved_as(name):
    config, head, inputs = MODELS[name]
    return SavedDepthNet(fresh(config), "reached", 3, 7, head, inputs)


def test_the_paper_s_net_read_literally_has_69_parameters():
    net = make_depth_net(PublishedDepthConfig(size=10, planes=1, outputs=1))
    assert sum(p.numel() for p in net.parameters()) == 5 * 5 + 1 + 5 * 5 + 1 + 4 * 4 + 1


@pytest.mark.parametrize(("shrink", "sides"), [("stride", [4, 2, 1]), ("pooling", [8, 2, 1]), ("dense", [8, 6, 5])])
def test_convolutions_shrink_as_the_table_says(shrink, sides):
    net, seen = fresh(PublishedDepthConfig(10, 1, 1, 2, shrink)), []
    for module in net.modules():
        if isinstance(module, torch.nn.Conv2d):
            module.register_forward_hook(lambda _m, _i, out: seen.append(out.shape[-1]))
    net(torch.rand(1, 1, 10, 10))
    assert seen == sides


def test_board_that_does_not_shrink_to_one_square_is_refused():
    with pytest.raises(ValueError, match="shrink: stride does not take 8x8 to 1x1"):
        make_depth_net(PublishedDepthConfig(8, 1, 1))
    assert make_depth_net(PublishedDepthConfig(8, 1, 1, shrink="dense"))(torch.rand(1, 1, 8, 8)).shape == (1, 1)


def test_heads_stay_within_the_classes():
    wild = np.array([[-100.0], [3.4], [3.6], [100.0]], np.float32)
    assert chosen_depths("linear", wild, 3, 7).tolist() == [3, 3, 4, 7]
    assert chosen_depths("sigmoid", wild, 3, 7).tolist() == [3, 7, 7, 7]
    assert chosen_depths("sigmoid", np.zeros((1, 1), np.float32), 3, 7).tolist() == [5]
    assert depth_value("sigmoid", torch.zeros(1, 1), 3, 7).tolist() == [5.0]


def test_confidence_asks_for_as_many_layers_as_it_takes():
    logits = np.log(np.array([[0.5, 0.1, 0.25, 0.1, 0.05]], np.float32))
    layers = [int(chosen_depths("classes", logits, 3, 7, c)[0]) for c in (None, 0.4, 0.55, 0.8, 0.9, 1.0)]
    assert layers == [3, 3, 4, 5, 6, 7]


def test_costs_choose_depth_within_share_of_clock():
    costs = np.log([0.01, 3.0, 0.5, 4.0, 2.0])  # a layer never takes less than the one before: 1, 3, 3, 12, 24 %
    outputs = np.append(costs, 5 / SEARCHES)[None].astype(np.float32)
    left = (0.0, 0.1, 0.2, 0.55, 0.65, 1.0)
    assert [int(chosen_depths("costs", outputs, 3, 7, left=x)[0]) for x in left] == [3, 3, 5, 5, 6, 6]
    assert chosen_depths("costs", outputs.repeat(2, 0), 3, 7, left=np.array([1.0, 0.06]), shares=1.5).tolist() == [7, 3]
    last = np.append(costs, -1.0)[None].astype(np.float32)  # this search is still to come
    assert chosen_depths("costs", last, 3, 7, left=0.2).tolist() == [6]


@pytest.mark.parametrize("name", MODELS)
def test_saved_models_come_back_equal(tmp_path, name):
    model = saved_as(name)
    for file in ("a.pt", "other/b.pt"):
        save_depth_net(tmp_path / file, model)
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "other/b.pt").read_bytes()
    again, config = load_depth_net(tmp_path / "a.pt", label="reached", classes=(3, 7)), model.net.config
    assert not again.net.training
    assert (again.net.config, again.head, again.inputs) == (config, model.head, model.inputs)
    planes = torch.rand(2, config.planes, 10, 10)
    found = again.net(planes)
    assert found.shape == (2, config.outputs)
    assert torch.equal(found, model.net(planes))


def test_a_model_for_something_else_is_refused(tmp_path):
    path = tmp_path / "model.pt"
    save_depth_net(path, saved_as("stride"))
    with pytest.raises(ZugwerkError, match=r"model\.pt: trained for classes 3 to 7, not 2 to 7$"):
        load_depth_net(path, classes=(2, 7))
    with pytest.raises(ZugwerkError, match=r"model\.pt: trained for the label 'reached', not 'needed'"):
        load_depth_net(path, label="needed")


def positions(count):
    """States after so many random turns, each with squares counted and some of the clock used."""
    rng, state, found = np.random.default_rng(2), amazons.initial_state(), []
    for _ in range(count):
        n = np.where(state.board == 1, rng.integers(0, 6, state.board.shape), 0).astype(np.uint8)
        found.append((n, float(np.float32(rng.uniform())), state))
        state = amazons.play(state, int(rng.choice(amazons.legal_actions(state))))
    return found


@pytest.mark.parametrize("name", MODELS)
def test_single_answers_equal_batched_ones(name):
    model, chosen = DepthModel(saved_as(name)), set()
    for n, used, state in positions(20):
        turns = np.array([len(amazons.legal_actions(state))], np.int32)
        side = np.array([amazons.to_play(state)], np.int8)
        planes = depth_planes(model.inputs, n[None], np.float32([used]), state.board[None], side, turns)
        with torch.inference_mode():
            outputs = model.saved.net(torch.from_numpy(planes)).numpy()
        np.testing.assert_allclose(model.forward(planes[0]), outputs[0], rtol=1e-4, atol=1e-5)
        chosen.add(model.choose(n, used, state))
        every = [model.choose(n, used, state), model.choose(n, used, state, int(turns[0]))]
        every.append(model.choose_all(planes, np.float32([used]))[0])
        assert every == [chosen_depths(model.saved.head, outputs, 3, 7, left=1 - np.float32(used))[0]] * 3
    assert chosen <= set(range(3, 8))


def test_confidence_is_for_models_with_probabilities(tmp_path):
    for name in ("stride", "residual"):
        save_depth_net(tmp_path / f"{name}.pt", saved_as(name))
    models = [load_depth_model(tmp_path / "residual.pt", confidence=c) for c in (1e-9, 0.2, 0.5, 0.9, 1.0)]
    layers = np.array([[model.choose(*position) for model in models] for position in positions(20)])
    assert (np.diff(layers) >= 0).all()
    assert (layers[:, 0] < layers[:, -1]).all()
    with pytest.raises(ZugwerkError, match=r"stride\.pt: its head 'linear' has no probabilities"):
        load_depth_model(tmp_path / "stride.pt", confidence=0.8)
    with pytest.raises(ZugwerkError, match="confidence must be above 0"):
        load_depth_model(tmp_path / "residual.pt", confidence=0.0)
    with pytest.raises(ZugwerkError, match="classes 3 to 7, not 1 to 5"):
        load_depth_model(tmp_path / "residual.pt", classes=(1, 5))


ENGINE = "nodes_per_ms=1000,clock=1000,width=12,table_mb=1,breadth=0,inner_breadth=0,futility=10000"
CLOSED = amazons.from_fen("Q2*1q/2**2/******/******/******/****** w")


def position(state=None, left=None, played=4):
    clock = None if left is None else Clock(left, left)
    state = amazons.initial_state() if state is None else state
    return Position(state, np.random.default_rng(1), None, (0,) * played, clock)


def recorder():
    """Searches nothing, and remembers what it was asked."""
    limits = []

    def search(state, limit, _seed=0, _on_info=None):
        limits.append(limit)
        action = int(amazons.legal_actions(state)[0])
        return SearchResult(action, 0.0, limit.depth or 1, limit.nodes or 1, (action,), 0.0)

    return searcher(search, limits=limits)


def asked(thought):
    move = DepthMove._make(thought.note)
    return Choice(move.asked, move.choosing)


def player(chooses, **options):
    return DepthPlayer(recorder(), chooses, **{"clock_ms": 1000.0, "nodes_per_ms": 1000.0} | options)


ITERATIONS = (10, 40, 160, 640, 2560, 10_240)  # Nodes, each four times as many as the one before


@pytest.mark.parametrize(
    ("rule", "gap", "depth", "spent"),
    [
        ("", 0.0, 5, 1000),  # whose fifth iteration is cut off
        ("early", 0.0, 4, 850),
        ("close", 0.5, 4, 850),  # the best two turns are not near
        ("close", 0.1, 4, 850),  # near, but twice the share is not enough for 2,560 more
    ],
)
def test_a_stop_rule_begins_no_iteration_that_cannot_end(rule, gap, depth, spent):
    found, limits = deepen(rule, gap, share=1000)
    assert found.nodes == spent
    assert found.depth == depth
    assert limits[0].lines == 1 + (rule == "close")


def test_close_turns_get_twice_the_share():
    assert deepen("early", 0.1, share=600)[0].nodes == 210
    assert deepen("close", 0.5, share=600)[0].nodes == 210
    assert deepen("close", 0.1, share=600)[0].nodes == 850


def deepen(rule, gap, share):
    """Search a position with ``share`` nodes, where the best two turns are ``gap`` squares from each other."""
    limits, stopped = [], []

    def search(_state, limit, _seed=0, on_info=lambda _found: None):
        limits.append(limit)
        lines = (Line((1,), 2.0, 1), Line((2,), 2.0 - gap, 1)) if limit.lines > 1 else ()
        nodes, depth = 0, 0
        while not stopped and nodes < limit.nodes:
            nodes, depth = min(nodes + ITERATIONS[depth], limit.nodes), depth + 1
            found = SearchResult(1, 2.0, depth, nodes, (1,), 0.0, lines)
            on_info(found)
        return found

    one = DepthPlayer(searcher(search, stop=lambda: stopped.append(True)), None, 1e6, 1.0, stop_rule=rule, near=0.2)
    stretch = 2 if rule == "close" else 1
    one.limit_of = lambda *_: Limit(nodes=share * stretch)
    (thought,) = one.consider([position(left=1e6)])
    return thought.found, limits


@pytest.mark.parametrize("options", ["stop=early,depth=4,nodes_per_ms=3", "plus=1,nodes_per_ms=3"])
def test_options_of_other_players_are_refused(options):
    with pytest.raises(ZugwerkError, match=r"stop|plus"):
        make_player("amazons", f"alphabeta:clock=100,{options}")


@given(
    left=st.floats(0, 1000),
    played=st.integers(0, 120),
    legal=st.integers(2, 2500),
    depth=st.none() | st.integers(1, 9),
    rate=st.sampled_from([0.0, 100.0, 1000.0]),
)
def test_no_move_is_given_more_than_its_hard_stop(left, played, legal, depth, rate):
    one = player(TableDepth(3), nodes_per_ms=rate)
    limit = one.limit_of(Clock(left, left), played, legal, depth)
    assert limit.depth == depth
    if rate:
        assert limit.movetime_ms is None
        assert limit.nodes == 1 or limit.nodes <= 0.2 * left * rate
        assert limit.nodes == 1 or limit.nodes + legal <= left * rate + 1  # one ply of the next move stays
    else:
        assert limit.nodes is None
        assert limit.movetime_ms <= max(0.2 * left, min(1.0, max(left / 2, 1e-3)))


def test_the_choice_is_charged_and_its_search_is_limited():
    one = player(chooser(lambda *_: Choice(5, 700_000)))
    thought = one.consider([position(left=1000.0)])[0]
    assert asked(thought) == Choice(5, 700_000)
    limit = one.searcher.limits[0]
    assert limit.depth == 5
    assert limit.nodes <= 0.2 * 300_000
    assert thought.nodes == 700_000 + limit.nodes


def test_used_share_of_clock_is_reported():
    seen = []
    one = player(chooser(lambda _state, legal, used, _seed: seen.append((legal, used)) or Choice(2)))
    for left in (1000.0, 750.0, 10.0, None):
        one.consider([position(left=left)])
    assert [legal for legal, _ in seen] == [2176] * 4
    np.testing.assert_allclose([used for _, used in seen], [0.0, 0.25, 0.99, 0.0])


def test_forced_choices_are_free():
    one = player(TableDepth(4))
    thought = one.consider([position(CLOSED, left=10.0)])[0]
    assert thought.note is None
    assert thought.nodes == 0
    assert amazons.is_legal(CLOSED, thought.action)
    assert one.searcher.limits == []


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_fixed_depth_is_searched(depth):
    one = make_player("amazons", f"alphabeta:depth={depth},{ENGINE}")
    thought = one.consider([position(left=1000.0)])[0]
    assert thought.found.depth == depth
    assert asked(thought) == Choice(depth)


def test_iterative_deepening_spends_its_share():
    one = make_player("amazons", f"alphabeta:{ENGINE}")
    thought = one.consider([position(left=1000.0)])[0]
    share = one.limit_of(Clock(1000.0, 1000.0), 4, 2176, None).nodes
    assert asked(thought) == Choice(0)
    assert share <= thought.nodes <= share + 2500  # a node is ranked whole
    assert one.choose([position(left=1000.0)]) == [thought.action]


def test_table_choice_uses_number_of_legal_turns():
    one = make_player("amazons", f"alphabeta:depth=table,lowest=1,table=2177/100,{ENGINE}")
    assert asked(one.consider([position(left=1000.0)])[0]) == Choice(2)
    assert one.limit_at(position(left=1000.0)).depth == 2


def test_net_choice_uses_the_squares(tmp_path):
    torch.manual_seed(0)
    net = make_depth_net(PublishedDepthConfig(10, 1, 1, filters=3))
    path = tmp_path / "model.pt"
    save_depth_net(path, SavedDepthNet(net.eval(), "reached", 1, 3, "linear", "published"))
    text = f"alphabeta:depth=cnn,model={path},simulations=5,plies=7,forward_nodes=33,{ENGINE}"
    one = make_player("amazons", text)
    thought = one.consider([position(left=1000.0)])[0]
    seed = int(np.random.default_rng(1).integers(1 << 62))
    layers, cost = SquareSearch(one.chooser.squares.evaluator, 5, 7).search(amazons.initial_state(), seed)
    assert asked(thought) == Choice(one.chooser.model.choose(layers, 0.0, amazons.initial_state()), cost + 33)
    assert thought.found.depth == asked(thought).depth
    most = one.chooser.most_nodes(amazons.initial_state())
    assert cost + 33 <= most == 5 * (2 * 92 + 1) + 33
    late = one.consider([position(left=4 * (most + 2176) / 1000 - 0.001)])[0]  # 1,000 nodes a millisecond
    assert asked(late) == Choice(0)
    assert late.found.depth == 1
    assert asked(one.consider([position(left=4 * (most + 2176) / 1000)])[0]).depth
    with pytest.raises(ZugwerkError, match="its head 'linear' does not use the clock"):
        make_player("amazons", f"{text},shares=1.5")


def test_cost_net_choice_uses_the_clock(tmp_path):
    torch.manual_seed(0)
    net = make_depth_net(PublishedDepthConfig(10, 1, 4, filters=3))
    bias = net.layers[-1].bias
    net.layers[-1].weight.data.zero_()
    bias.data.copy_(torch.tensor([np.log(0.01), np.log(3), np.log(3), 10 / SEARCHES]))  # 1, 3, 9 % of a clock; 10 to go
    path = tmp_path / "model.pt"
    save_depth_net(path, SavedDepthNet(net.eval(), "reached", 1, 3, "costs", "published"))

    def depth(left, shares):
        text = f"alphabeta:depth=cnn,model={path},shares={shares},{ENGINE}"
        return asked(make_player("amazons", text).consider([position(left=left)])[0]).depth

    clock = make_player("amazons", f"alphabeta:{ENGINE}").clock_ms
    assert [depth(share * clock, 1) for share in (1.0, 0.5, 0.2, 0.05)] == [3, 2, 1, 1]
    assert [depth(0.5 * clock, shares) for shares in (0.1, 1, 2)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("depth=cnn", "depth=cnn needs model=PATH"),
        ("depth=cnn,model=nowhere.pt", "nowhere.pt: no such model"),
        ("depth=4,model=some.pt,nodes_per_ms=1", "model is for depth=cnn only"),
        ("depth=4,table=9/3,nodes_per_ms=1", "table is for depth=table only"),
        ("depth=4,confidence=0.9,nodes_per_ms=3000", "confidence is for depth=cnn only"),
        ("depth=table,confidence=0.9", "confidence is for depth=cnn only"),
        ("depth=table,shares=2", "shares is for depth=cnn only"),
        ("nodes_per_ms=9,shares=2", "shares is for depth=cnn only"),
        ("depth=4,lowest=7,nodes_per_ms=1", "lowest is for depth=table only"),
        ("depth=00961,nodes_per_ms=1", "depth must be cnn, table, or 1 to 96, not 00961"),
        ("depth=table,table=3/9", "falling numbers"),
        ("depth=0,nodes_per_ms=1", "depth must be cnn, table, or 1 to 96"),
        ("depth=table,nodes_per_ms=-1", "nodes_per_ms must be at least 0, not -1"),
        ("depth=table,simulations=1.5", "simulations must be a whole number, not 1.5"),
        ("depth=table,clock=0", "clock must be above 0, not 0"),
        ("depth=table,speed=3", "no option 'speed'"),
    ],
)
def test_bad_text_is_named(options, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        make_player("amazons", f"alphabeta:{options}")


@pytest.mark.parametrize("rate", [1e20, 1e308])
def test_nodes_of_a_fast_clock_fit_a_kernel(rate):
    limit = player(None, nodes_per_ms=rate).limit_of(Clock(1e9, 1e9), 0, 2, None)
    assert 2**61 < limit.nodes < 2**63


def test_own_options_precede_the_games_whose_depths_must_rise():
    one = make_player("amazons", GAME.player("game_plies=44,width=5"))
    assert (one.game_plies, one.clock_ms, one.nodes_per_ms) == (44, GAME.clock_ms, GAME.nodes_per_ms)
    assert make_player("amazons", GAME.player()).game_plies == GAME.game_plies
    with pytest.raises(ValueError, match="lowest and highest must rise within 1 to 16, not 5 and 5"):
        DepthGame(**GAME.model_dump() | {"lowest": 5})
