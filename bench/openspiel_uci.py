"""OpenSpiel's Amazons MCTS (C++, random rollouts, solver on) as an engine on stdin and stdout.

    zugwerk match amazons alphabeta "uci:python -m bench.openspiel_uci,movetime=1000" --movetime 1000

In OpenSpiel a turn is three actions of one player: amazon, square, arrow. Its bot searches each of them and keeps no
tree between calls, so a turn is three searches with a third of the time each; a forced action takes no time and leaves
its share to the others. Time is limited by the bot's own clock. With ``--simulations`` (or ``go nodes``) each of the
three searches has a number of simulations instead; ``--calibrate MS`` prints the number that fills MS milliseconds.
OpenSpiel counts squares from the upper left corner, zugwerk from the lower left one.
"""

import argparse
import sys
import time

import numpy as np
import pyspiel

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.games.game import get_game
from pipeline_src.players.uci import Placed, read_go, read_position, write_move

STEPS = 3  # Actions of a turn
OVERHEAD_S = 0.01
MOST = 1 << 30  # Simulations of a search that is limited by time


def square(index: int, size: int) -> int:
    """Convert a square's number between OpenSpiel and zugwerk, in either direction."""
    return (size - 1 - index // size) * size + index % size


def sub_actions(action: int, size: int) -> tuple[int, int, int]:
    """Return the three OpenSpiel actions of a turn."""
    n = size * size
    return square(action // (n * n), size), square(action // n % n, size), square(action % n, size)


def turn(actions: list[int], size: int) -> int:
    """Return the turn of three OpenSpiel actions."""
    n = size * size
    start, to, arrow = (square(action, size) for action in actions)
    return (start * n + to) * n + arrow


def state_after(placed: Placed) -> "pyspiel.State":
    """Return the OpenSpiel state of a position that was reached from a standard start.

    Raises:
        ZugwerkError: the game began from another position; OpenSpiel reads no positions.
    """
    size = placed.start.board.shape[0]
    starts = [n for n in amazons.SIZES if amazons.to_fen(placed.start) == amazons.to_fen(amazons.initial_state(n))]
    if not starts:
        raise ZugwerkError("OpenSpiel plays from the standard start only; send it and the moves")
    state = pyspiel.load_game("amazons", {"board_size": size}).new_initial_state()
    for action in placed.actions:
        for part in sub_actions(action, size):
            state.apply_action(part)
    return state


class Mcts:
    """OpenSpiel's bot with the settings of the command line."""

    def __init__(self, uct_c: float, rollouts: int, memory_mb: int, seed: int) -> None:
        self.uct_c, self.memory_mb, self.seed = uct_c, memory_mb, seed
        self.evaluator = pyspiel.RandomRolloutEvaluator(rollouts, seed)

    def search(self, state: "pyspiel.State", simulations: int, seconds: float) -> "pyspiel.SearchNode":
        """Return the root of a search with limits of simulations and seconds (below 0: no limit)."""
        self.seed += 1
        bot = pyspiel.MCTSBot(
            state.get_game(),
            self.evaluator,
            self.uct_c,
            simulations,
            self.memory_mb,
            True,
            self.seed,
            False,
            pyspiel.ChildSelectionPolicy.UCT,
            seconds,
        )
        return bot.mcts_search(state)

    def turn(self, state: "pyspiel.State", simulations: int, seconds: float) -> tuple[list[int], int, float]:
        """Return the three actions, the simulations of all three searches, and the mean return of the first choice."""
        end, chosen, nodes, value = time.perf_counter() + seconds, list[int](), 0, 0.0
        state = state.clone()
        for step in range(STEPS):
            legal = state.legal_actions()
            if len(legal) == 1:
                chosen.append(legal[0])
            else:
                left = max(0.001, (end - time.perf_counter()) / (STEPS - step)) if seconds >= 0 else -1.0
                root = self.search(state, simulations, left)
                best = root.best_child()
                nodes += root.explore_count
                if step == 0 and best.explore_count:
                    value = best.total_reward / best.explore_count
                chosen.append(best.action)
            state.apply_action(chosen[-1])
        return chosen, nodes, value


def calibrate(mcts: Mcts, milliseconds: float) -> int:
    """Return the simulations of each search with which a turn from the start position takes this time."""
    start = pyspiel.load_game("amazons").new_initial_state()
    simulations = 300
    for _ in range(4):
        begin = time.perf_counter()
        mcts.turn(start, simulations, -1.0)
        used = (time.perf_counter() - begin) * 1000
        simulations = max(1, round(simulations * milliseconds / used))
    return simulations


def answer(mcts: Mcts, placed: Placed, words: list[str], simulations: int) -> None:
    """Print the answer to ``go``."""
    game = get_game("amazons")
    if game.winner(placed.state) is not None:
        print("bestmove (none)", flush=True)
        return
    begin = time.perf_counter()
    go, side = read_go(words), game.to_play(placed.state)
    bounds = go.bounds(OVERHEAD_S * 1000)
    clock = go.place(placed, side, np.random.default_rng(0), OVERHEAD_S * 1000).clock
    seconds = -1.0
    if bounds.movetime_ms is not None:
        seconds = bounds.movetime_ms / 1000
    elif clock is not None:
        seconds = min(clock.own_ms / 30 + clock.increment_ms / 2, clock.own_ms * 0.8) / 1000
    count = bounds.nodes or simulations or (MOST if seconds > 0 else 1_000)
    actions, nodes, value = mcts.turn(state_after(placed), count, -1.0 if simulations else seconds)
    used = time.perf_counter() - begin
    text = write_move(game, placed.state, turn(actions, placed.start.board.shape[0]))
    print(f"info nodes {nodes} nps {int(nodes / used)} time {int(used * 1000)} score cp {round(100 * value)} pv {text}")
    print(f"bestmove {text}", flush=True)


def warm_up(mcts: Mcts) -> None:
    """Search once, so that the first move does not wait for loading."""
    placed = read_position(get_game("amazons"), ["startpos", "moves", "d1d7g7"])
    mcts.turn(state_after(placed), 10, -1.0)


def main() -> None:
    """Speak the protocol, or calibrate."""
    parser = argparse.ArgumentParser(description="OpenSpiel's Amazons MCTS as a UCI engine.")
    parser.add_argument(
        "--simulations", type=int, default=0, help="for each of a turn's three searches; 0: limit by time"
    )
    parser.add_argument("--calibrate", type=float, metavar="MS", help="print the simulations that fill a turn of MS")
    parser.add_argument("--uct-c", type=float, default=2.0, help="exploration constant (OpenSpiel's examples: 2)")
    parser.add_argument("--rollouts", type=int, default=1, help="random games for each evaluation")
    parser.add_argument("--memory", type=int, default=1000, help="MB for a search tree")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    mcts = Mcts(options.uct_c, options.rollouts, options.memory, options.seed)
    if options.calibrate is not None:
        print(calibrate(mcts, options.calibrate))
        return
    game = get_game("amazons")
    start = game.initial_state()
    placed = Placed(start, start)
    for line in sys.stdin:
        words = line.split()
        try:
            match words[:1]:
                case ["quit"]:
                    return
                case ["uci"]:
                    print("id name OpenSpiel MCTS\nid author DeepMind and contributors\nuciok", flush=True)
                case ["isready"]:
                    warm_up(mcts)
                    print("readyok", flush=True)
                case ["position"]:
                    placed = read_position(game, words[1:])
                case ["go"]:
                    answer(mcts, placed, words[1:], options.simulations)
        except ZugwerkError as error:
            print(f"info string {error}", flush=True)
            if words[0] == "go":
                print("bestmove (none)", flush=True)


if __name__ == "__main__":
    main()
