"""Nets that two public repositories ship for Gomoku, under their own search settings, as a program of the Gomocup.

    zugwerk match gomoku zero:simulations=400 "brain:python -m bench.peers NET.npz,movetime=600000" --size 8

NET.npz has the arrays of a net: of AlphaZero_Gomoku (``w00`` to ``w15``) or of alphazero-board-games (names of its
state dict); `bench.connect_four` plays that of Connect Four. They are not part of this project. Both search by PUCT
without noise and play a most visited move; the score of a move is Q + c * P * sqrt(1 + sum of N) / (1 + N), unvisited
ones have Q = 0, and the lowest cell breaks ties.
"""

import argparse
import math
import sys
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.games import gomoku, rules
from pipeline_src.learning.onnx_session import open_session
from pipeline_src.learning.torch_state import OnnxGraph
from pipeline_src.players.gomocup import is_cell, read_cell, write_cell

Arrays = dict[str, npt.NDArray[Any]]
EPSILON = 1e-5  # Of their batch norms
SIMULATIONS = 400


class PeerNet:
    """A net of either repository: policy and value of a position."""

    def __init__(self, arrays: Arrays) -> None:
        self.plain = "w00" in arrays  # AlphaZero_Gomoku: no batch norm
        self.c_puct = 5.0 if self.plain else 1.5
        graph, cells = OnnxGraph(), arrays["w09" if self.plain else "policy_fc.bias"].size
        self.height, self.width = (6, 7) if cells == 42 else 2 * (math.isqrt(cells),)  # that is Connect Four
        (_plain if self.plain else _residual)(graph, arrays)
        planes = ("B", 4 if self.plain else 2, self.height, self.width)
        content = graph.content("peer", {"planes": planes}, {"policy": ("B", cells), "value": ("B", 1)}, {})
        self._session = open_session(content)

    def __call__(self, state: Any) -> tuple[npt.NDArray[np.float64], float]:
        """Return the probability of each cell, float64 [H * W], occupied ones included, and the mover's value."""
        own = gomoku.BLACK + rules.to_play(state)
        planes = np.zeros((4, self.height, self.width), np.float32)
        planes[0], planes[1] = state.board == own, state.board == 3 - own
        if self.plain:
            ply = int(np.count_nonzero(state.board))
            if ply:
                planes[2].flat[gomoku.last_cell(state)] = 1
            planes[3] = ply % 2 == 0
            planes = planes[:, ::-1]
        else:
            planes = planes[:2]
        policy, value = self._session.run(["policy", "value"], {"planes": np.ascontiguousarray(planes[None])})
        return policy[0].astype(np.float64), float(value[0, 0])

    def cells(self, state: Any, actions: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
        """Return the cells of actions, of which those of Connect Four are columns."""
        if self.height == self.width:
            return actions
        lowest = np.count_nonzero(state.board[:, actions] == 0, axis=0) - 1
        return np.asarray(lowest * self.width + actions)


def _plain(graph: OnnxGraph, arrays: Arrays) -> None:
    w = [arrays[f"w{i:02}"] for i in range(16)]

    def convolved(x: str, i: int) -> str:
        return graph.add("Relu", [graph.convolution(x, w[i][:, :, ::-1, ::-1], w[i + 1])])  # theirs turn the kernel

    def dense(x: str, i: int) -> str:
        return graph.add("Gemm", [x, graph.constant(w[i]), graph.constant(w[i + 1])])

    trunk = convolved(convolved(convolved("planes", 0), 2), 4)
    policy, value = (graph.add("Flatten", [convolved(trunk, i)]) for i in (6, 10))
    graph.add("Softmax", [dense(policy, 8)], "policy", axis=1)
    graph.add("Tanh", [dense(graph.add("Relu", [dense(value, 12)]), 14)], "value")


def _residual(graph: OnnxGraph, arrays: Arrays) -> None:
    def normed(x: str, convolution: str, norm: str) -> str:
        gamma, beta, mean, var = (arrays[f"{norm}.{n}"] for n in ("weight", "bias", "running_mean", "running_var"))
        weight, bias = arrays[f"{convolution}.weight"], arrays[f"{convolution}.bias"]
        scale = gamma / np.sqrt(var.astype(np.float64) + EPSILON)
        return graph.convolution(x, weight * scale[:, None, None, None], (bias - mean) * scale + beta)

    def relu(x: str) -> str:
        return graph.add("Relu", [x])

    def dense(x: str, layer: str) -> str:
        weights = [graph.constant(arrays[f"{layer}.{name}"]) for name in ("weight", "bias")]
        return graph.add("Gemm", [x, *weights], transB=1)

    x = relu(normed("planes", "conv_init", "bn_init"))
    for k in range(sum(name.endswith("conv1.weight") for name in arrays)):
        block = f"res_blocks.{k}"
        inner = relu(normed(x, f"{block}.conv1", f"{block}.bn1"))
        x = relu(graph.add("Add", [x, normed(inner, f"{block}.conv2", f"{block}.bn2")]))
    policy, value = (
        graph.add("Flatten", [relu(normed(x, f"{head}_conv", f"{head}_bn"))]) for head in ("policy", "value")
    )
    graph.add("Softmax", [dense(policy, "policy_fc")], "policy", axis=1)
    graph.add("Tanh", [dense(relu(dense(value, "value_fc1")), "value_fc2")], "value")


@dataclass(eq=False)
class Node:
    """A position of the tree. The arrays are of its legal actions, ascending; values are the mover's."""

    state: Any
    actions: npt.NDArray[np.int32]  # [A]; none if the game is over
    priors: npt.NDArray[np.float64]
    visits: npt.NDArray[np.float64]
    totals: npt.NDArray[np.float64]  # Sum of the values of the visits
    value: float  # Of the net, or of the end
    children: dict[int, "Node"] = field(default_factory=dict)  # By index of the action

    @property
    def q(self) -> npt.NDArray[np.float64]:
        """Mean value of each action, 0 if unvisited."""
        return self.totals / np.maximum(self.visits, 1)


class PeerSearch:
    """The search of either repository."""

    def __init__(self, net: PeerNet) -> None:
        self.net, self._rng = net, np.random.default_rng(0)
        self._root: Node | None = None

    def new_game(self) -> None:
        """Forget the tree."""
        self._root = None

    def search(self, state: Any, simulations: int) -> Node:
        """Add simulations to what the tree has of an unfinished position, and return its node."""
        root = None if self.net.plain else self._find(state)  # AlphaZero_Gomoku drops its tree before each move
        if root is None:
            root, simulations = self._expand(state), simulations - 1
        for _ in range(simulations):
            self._simulate(root)
        self._root = root
        return root

    def choose(self, state: Any, simulations: int) -> int:
        """Return a most visited action."""
        root = self.search(state, simulations)
        return int(self._rng.choice(root.actions[root.visits == root.visits.max()]))

    def _find(self, state: Any) -> Node | None:
        """Return the node of the tree that two or fewer moves from the last root lead to."""
        level = [] if self._root is None else [self._root]
        for _ in range(3):
            for node in level:
                if np.array_equal(node.state.board, state.board):
                    return node
            level = [child for node in level for child in node.children.values()]
        return None

    def _expand(self, state: Any) -> Node:
        winner = rules.winner(state)
        actions = rules.legal_actions(state)[: None if winner is None else 0]
        priors, value = np.zeros(len(actions)), 0.0 if winner == "draw" else -1.0
        if winner is None:
            every, value = self.net(state)
            priors = every[self.net.cells(state, actions)]
            if not self.net.plain:
                priors /= priors.sum()
        return Node(state, actions, priors, np.zeros(len(actions)), np.zeros(len(actions)), value)

    def _simulate(self, node: Node) -> None:
        path = list[tuple[Node, int]]()
        while len(node.actions):
            score = node.q + self.net.c_puct * node.priors * math.sqrt(1 + node.visits.sum()) / (1 + node.visits)
            path.append((node, k := int(score.argmax())))
            if k not in node.children:
                node.children[k] = self._expand(rules.play(node.state, int(node.actions[k])))
                node = node.children[k]
                break
            node = node.children[k]
        value = node.value
        for above, k in reversed(path):
            value = -value
            above.visits[k] += 1
            above.totals[k] += value


def serve(search: PeerSearch, simulations: int) -> None:
    """Speak the Gomocup protocol, as far as `BrainPlayer` uses it."""
    side, cells = search.net.width, list[int]()  # in the order of play

    def move() -> str:
        state = reduce(gomoku.play, cells, gomoku.initial_state(side))
        cells.append(search.choose(state, simulations))
        return write_cell(cells[-1], side)

    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        told = ""
        if word == "START":
            cells.clear()
            search.new_game()
            told = "OK" if rest == str(side) else f"ERROR the net is for {side}x{side}"
        elif word == "BOARD":
            cells.clear()
        elif word == "TURN":
            cells.append(read_cell(rest, side, side))
            told = move()
        elif word in ("BEGIN", "DONE"):
            told = move()
        elif word == "INFO" and rest.startswith("rule") and rest != "rule 0":
            told = "ERROR only freestyle"
        elif word == "ABOUT":
            told = 'name="peer"'
        elif word == "END":
            return
        elif is_cell(line.strip()[:-2]):
            cells.append(read_cell(line.strip()[:-2], side, side))
        elif word != "INFO":
            told = f"UNKNOWN {word}"
        if told:
            print(told, flush=True)


def read_net(path: Path) -> PeerNet:
    """Read a net's arrays.

    Raises:
        ZugwerkError: the file is missing, or has other arrays.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return PeerNet(dict(arrays))
    except (OSError, ValueError, KeyError) as error:
        raise ZugwerkError(f"{path}: no net of AlphaZero_Gomoku or alphazero-board-games as .npz: {error}") from None


def main() -> None:
    """Serve a manager until END."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net", type=Path)
    parser.add_argument("--simulations", type=int, default=SIMULATIONS, help="for each move")
    options = parser.parse_args()
    serve(PeerSearch(read_net(options.net)), options.simulations)


if __name__ == "__main__":
    run_main(main)
