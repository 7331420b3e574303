import subprocess
import sys

import numpy as np
import pytest

from pipeline_src.games import amazons

pyspiel = pytest.importorskip("pyspiel")
from bench.openspiel_uci import square, sub_actions, turn  # noqa: E402


def turns(state, size):
    """Our numbers of all turns of an OpenSpiel state, ascending."""
    found = []
    for start in state.legal_actions():
        moved = state.child(start)
        for to in moved.legal_actions():
            found += [turn([start, to, arrow], size) for arrow in moved.child(to).legal_actions()]
    return sorted(found)


@pytest.mark.parametrize("size", amazons.SIZES)
def test_both_rules_agree_at_every_ply_of_random_games(size):
    rng = np.random.default_rng(size)
    for _ in range(5):
        ours = amazons.initial_state(size)
        theirs = pyspiel.load_game("amazons", {"board_size": size}).new_initial_state()
        while (winner := amazons.winner(ours)) is None:
            assert not theirs.is_terminal()
            assert theirs.current_player() == amazons.to_play(ours)
            legal = sorted(amazons.legal_actions(ours).tolist())
            assert turns(theirs, size) == legal
            action = int(rng.choice(legal))
            ours = amazons.play(ours, action)
            for part in sub_actions(action, size):
                theirs.apply_action(part)
        assert theirs.is_terminal()
        assert (theirs.returns()[0] > 0) == (winner == "first")


def test_squares_are_converted_and_back():
    assert [square(index, 10) for index in (0, 9, 90, 93)] == [90, 99, 0, 3]
    assert all(square(square(index, 6), 6) == index for index in range(36))


def test_engine_keeps_to_time_and_simulations():
    lines = "uci\nisready\nposition startpos moves d1d7g7\ngo movetime 200\nposition startpos6\ngo nodes 20\n"
    lines += "position fen 1q1/3/1Q1 w\ngo nodes 5\nquit\n"
    line = [sys.executable, "-m", "bench.openspiel_uci"]
    said = subprocess.run(line, input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    best = [text.split()[1] for text in said if text.startswith("bestmove")]
    after = amazons.play(amazons.initial_state(), amazons.parse_move("d1d7g7"))
    assert amazons.is_legal(after, amazons.parse_move(best[0]))
    assert amazons.is_legal(amazons.initial_state(6), amazons.parse_move(best[1], 6, 6))
    assert best[2] == "(none)"
    infos = [text.split() for text in said if text.startswith("info nodes")]
    assert int(infos[0][6]) < 260
    assert int(infos[1][2]) == 60
