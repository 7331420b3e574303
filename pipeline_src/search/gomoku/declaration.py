"""The Gomoku engine declares itself."""

from pipeline_src.project.systems import Figure, System, levels_figure

SYSTEM = System(
    name="gomoku_engine",
    title="Gomoku engine",
    summary=(
        "A solver that proves forced wins by threats, and alpha-beta on boards that keep the patterns of every line."
    ),
    page="gomoku.md",
    figures={
        "forced_wins_9": Figure("forced wins proven in 1 s, distance 3 to 9 plies", "fraction"),
        "forced_wins_15": Figure("forced wins proven in 1 s, distance 10 to 15 plies", "fraction"),
        "forced_wins_25": Figure("forced wins proven in 1 s, distance 16 to 25 plies", "fraction"),
        "forced_wins_longer": Figure("forced wins proven in 1 s, longer distances", "fraction"),
        "score_vs_previous_15": Figure("engine: score against alpha-beta, 300 ms a move, 15x15", "score"),
        "score_vs_previous_20": Figure("engine: score against alpha-beta, 300 ms a move, 20x20", "score"),
        "score_fours_in_zero": Figure("zero: score against the net without searches by fours, 100 ms a move", "score"),
        "score_zero_vs_engine": Figure("zero: score against engine, 300 ms a move, 15x15", "score"),
        "score_zero_vs_engine_20": Figure("zero: score against engine, 300 ms a move, 20x20", "score"),
        "score_zero_vs_engine_exact": Figure("zero: score against engine, 300 ms a move, 15x15, exact lines", "score"),
        "score_zero_vs_engine_renju": Figure("zero: score against engine, 300 ms a move, 15x15, Renju", "score"),
        "score_zero_vs_engine_caro": Figure("zero: score against engine, 300 ms a move, 15x15, Caro", "score"),
        "late_moves": Figure("moves of the brain later than 300 ms, beside a busy process", "moves"),
        "renju_suite": Figure("Renju: known cells classified correctly as forbidden or allowed", "fraction"),
        **{f"levels_15_{rule}": levels_figure(15, rule) for rule in ("freestyle", "exact", "renju", "caro")},
        **{f"levels_{size}_freestyle": levels_figure(size, "freestyle") for size in (20, 9)},
    },
    matches={
        "score_vs_previous_15": "`engine` against `alphabeta`, 300 ms a move, 15x15",
        "score_vs_previous_20": "`engine` against `alphabeta`, 300 ms a move, 20x20",
        "fifth_of_the_time": "`engine`, 60 ms a move, against `alphabeta`, 300 ms a move, 15x15",
        "score_fours_in_zero": "`zero` against `zero:fours=0`, 100 ms a move, 15x15",
        "score_zero_vs_engine": "`zero` against `engine`, 300 ms a move, 15x15",
        "score_zero_vs_engine_20": "`zero` against `engine`, 300 ms a move, 20x20",
        "score_zero_vs_engine_exact": "`zero` against `engine`, 300 ms a move, 15x15, exact lines",
        "score_zero_vs_engine_renju": "`zero` against `engine`, 300 ms a move, 15x15, Renju",
        "score_zero_vs_engine_caro": "`zero` against `engine`, 300 ms a move, 15x15, Caro",
    },
)
