"""A player with a net for each board: which net is asked, and which calls reach all of them."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from pipeline_src.players.player import NO_BOUNDS, OneBoard, Player, Position, Thought
from pipeline_src.players.searching import ByBoard
from pipeline_src.search.limits import Limit

SMALL, LARGE = OneBoard(6, 6, "exact"), OneBoard(9, 9, "exact")


class Recorder(Player):
    """Answers with the side of its board, and records its calls."""

    def __init__(self, board):
        self.board, self.told = board, []

    def consider(self, positions):
        self.told.append(("consider", len(positions)))
        return [Thought(100 * self.board.height + position.state.number) for position in positions]

    def think(self, position, bounds=NO_BOUNDS, on_info=None):
        return Thought(self.board.height)

    def needs(self, start):
        return [self.board.height]

    def ready(self, start=None):
        self.told.append("ready")

    def new_game(self):
        self.told.append("new_game")

    def use_memory(self, size):
        self.told.append(("use", size))

    def take_memory(self, size):
        self.told.append(("take", size))

    def stop(self):
        self.told.append("stop")

    def close(self):
        self.told.append("close")


@pytest.fixture
def player():
    made = {}

    def open_net(net):
        made[net.card.board] = Recorder(net.card.board)
        return made[net.card.board]

    nets = {board: SimpleNamespace(card=SimpleNamespace(board=board)) for board in (SMALL, LARGE)}
    one = ByBoard("zero", nets, open_net, lambda state: state.board, searches=True, limit=Limit(nodes=3))
    one.made = made
    return one


def position(board, number=0):
    return Position(SimpleNamespace(board=board, number=number), np.random.default_rng(0))


def test_positions_are_batched_by_board_for_its_net(player):
    positions = [position(LARGE, 1), position(SMALL, 2), position(LARGE, 3)]
    assert player.made == {}, "no net is read before it is asked for"
    assert player.choose(positions) == [901, 602, 903]
    assert player.made[LARGE].told == [("consider", 2)]
    assert player.made[SMALL].told == [("consider", 1)]
    assert player.think(positions[1]).action == 6
    assert player.consider([]) == []


def test_properties_are_those_of_its_players(player):
    assert player.searches
    assert player.limit == Limit(nodes=3)
    assert (player.boards, player.only) == ((SMALL, LARGE), None)


def test_calls_are_forwarded_to_all_players(player):
    player.use_memory(7)
    player.check(position(SMALL).state)
    player.take_memory(8)
    player.check(position(LARGE).state)
    player.ready(position(SMALL).state)
    player.ready()
    player.new_game()
    player.stop()
    player.close()
    assert player.made[SMALL].told == [("use", 7), ("take", 8), "ready", "new_game", "stop", "close"]
    assert player.made[LARGE].told == [("use", 7), ("take", 8), "new_game", "stop", "close"]


def test_kernels_come_from_the_boards_net_or_any(player):
    assert player.needs(position(LARGE).state) == [9]
    assert player.needs(position(OneBoard(15, 15, "exact")).state) == [6]


def test_concurrent_threads_open_a_net_once_within_memory_limit():
    opened, may_open = [], threading.Event()

    def open_net(net):
        opened.append(Recorder(net.card.board))
        may_open.wait(10)
        return opened[-1]

    net = SimpleNamespace(card=SimpleNamespace(board=SMALL))
    one = ByBoard("zero", {SMALL: net}, open_net, lambda state: state.board)
    asked = [threading.Thread(target=one.needs, args=(SimpleNamespace(board=SMALL),)) for _ in range(2)]
    asked.append(threading.Thread(target=one.use_memory, args=(1000,)))
    for thread in asked:
        thread.start()
    may_open.set()
    for thread in asked:
        thread.join()
    assert [recorder.told for recorder in opened] == [[("use", 1000)]]
