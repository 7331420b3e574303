"""The Amazons engine declares itself."""

from pipeline_src.project.systems import Figure, System, levels_figure
from pipeline_src.search.amazons.evaluation import AmazonsEngine

SYSTEM = System(
    name="amazons_engine",
    title="Amazons engine",
    summary=(
        "Alpha-beta and Monte Carlo tree search with a territory evaluation. The nets are measured against it, and "
        "the search depth is chosen for it."
    ),
    page="engine.md",
    figures={
        "score_vs_openspiel_mcts": Figure("alpha-beta: score against OpenSpiel's C++ MCTS, 100 ms a move", "score"),
        "score_vs_one_ply": Figure("alpha-beta, 100,000 nodes a move: score against the one-ply player", "score"),
        "score_vs_previous": Figure("alpha-beta: score against revision 5b54a18, 300 ms a move", "score"),
        "score_vs_previous_8": Figure("alpha-beta: score against revision 5b54a18, 300 ms a move, 8x8", "score"),
        "score_uct_vs_alphabeta": Figure("UCT: score against alpha-beta, 300 ms a move", "score"),
        "learned_evaluation_elo": Figure("alpha-beta: Elo gained by the learned weights, 100 ms a move", "Elo"),
        "elo_per_doubling": Figure("alpha-beta: Elo gained by twice the time", "Elo"),
        "illegal_moves": Figure("games lost by an illegal move", "games"),
        "time_losses": Figure("games lost on time", "games"),
        "late_moves": Figure("moves later than their 50 ms, beside a busy process", "answers"),
        **{f"levels_{size}_standard": levels_figure(size, "standard") for size in (10, 8, 6)},
        "levels_10_cross": levels_figure(10, "cross"),
    },
    matches={
        "openspiel_100ms": "alpha-beta against OpenSpiel's C++ MCTS (590 simulations a sub-move), 100 ms a move",
        "one_ply": "alpha-beta, 100,000 nodes a move, against the one-ply player",
        "fast": "alpha-beta against UCT, 10 ms a move",
        "uct_300ms": "UCT against alpha-beta, 300 ms a move",
        "doubling_100_50": "alpha-beta with 100 ms a move against 50 ms",
        "doubling_200_100": "alpha-beta with 200 ms a move against 100 ms",
        "doubling_400_200": "alpha-beta with 400 ms a move against 200 ms",
        "previous": "alpha-beta against itself at revision 5b54a18, 300 ms a move",
        "previous_8": "the same on 8x8",
        "learned": "alpha-beta with the learned evaluation against the weights by hand, 100 ms a move",
    },
    params={"amazons_engine": AmazonsEngine},
)
