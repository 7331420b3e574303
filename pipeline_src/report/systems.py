"""Title, source and summary of each system of the registry, for the report and the results page."""

from typing import NamedTuple


class Claim(NamedTuple):
    """Report of a publication, and the figure that decides whether it was reached."""

    words: str
    figure: str
    bar: float | str
    """The published value of the figure, or where none is printed the figure that stands for it."""
    reason: str
    """Remark on the verdict."""
    missed: str = ""
    """Why it was not reached, where it was not; else `reason` stands there too."""
    run: str = ""
    """The figure to show of a run that has not made the one that decides."""
    bar_words: str = ""
    """Name of what ``bar`` stands for, if that is a figure."""
    less: bool = False
    """Whether less is better."""
    outcomes: tuple[str, str] = ("beaten", "reproduced")
    """The verdicts on a value beyond the bar, and on one that cannot be told from it."""


class System(NamedTuple):
    """A system of the registry."""

    title: str
    source: str
    """The publication; empty for a system of our own."""
    summary: str
    reports: str
    """Folder below artifacts/reports with its charts and boards; empty if it has none."""
    page: str
    """Page below docs/."""
    claim: Claim | None = None
    """The publication's; None for a system of our own."""
    metrics: tuple[str, ...] = ()
    """Figures of the graph that DVC shows as metrics: few, since its tables have a column for each number."""


SYSTEMS = {
    "amazons_net": System(
        "Amazons-Net",
        "Patent CN 111330255 B",
        "Two convolutional nets predict the move and the arrow of a turn from recorded games. A residual net of ours is"
        " trained on the same samples.",
        "amazons",
        "how-it-works/amazons-net.md",
        Claim(
            "two nets that find a turn and its win rate from 25,000 games; neither accuracy nor strength is printed",
            "residual_turn_top1",
            "turn_top1",
            "our residual net, held against the published nets trained on the same games",
            bar_words="published nets",
        ),
        ("from_to_top1", "score_vs_alphabeta", "residual_turn_top1"),
    ),
    "amazons_engine": System(
        "Amazons engine",
        "",
        "Alpha-beta and Monte Carlo tree search with a territory evaluation. The nets are measured against it, and the"
        " search depth is chosen for it.",
        "",
        "engine.md",
    ),
    "gomoku_engine": System(
        "Gomoku engine",
        "",
        "A solver that proves forced wins by threats, and alpha-beta on boards that keep the patterns of every line.",
        "",
        "gomoku.md",
    ),
    "gomoku_zero": System(
        "Gomoku from self-play",
        "Li et al.: Monte Carlo tree search and one residual network",
        "A net learns from games against itself, generation by generation. A new net replaces the best one if it wins"
        " the gate. Published on 15x15; the laptop profile begins on 9x9 and goes on to 15x15.",
        "gomoku",
        "how-it-works/gomoku-zero.md",
        Claim(
            "28 generations in two days; six of ten rated models win their best-of-five matches",
            "best_of_five_won",
            0.6,
            "the depth of its opponents is not printed",
            run="score_vs_mcts1000",
        ),
        ("score_vs_mcts1000", "elo_last"),
    ),
    "growing_boards": System(
        "Self-learning on growing boards",
        "Patent application, 2021",
        "A net learns on a small board until it improves no more. Then its weights are carried over to a larger board.",
        "growing",
        "how-it-works/growing-boards.md",
        Claim(
            "a net grown from smaller boards learns faster than one from scratch; no figure is printed",
            "time_to_scratch_strength",
            1.0,
            "three seeds each; 1 is the compute of training from scratch",
            run="score_vs_mcts1000",
            less=True,
            outcomes=("reproduced", "not reached"),
        ),
        ("score_vs_mcts1000",),
    ),
    "search_depth": System(
        "Search depth chosen by a net",
        "Li, Gao 2022",
        "A small net reads the position and chooses how deep the engine searches, so that the clock is spent where"
        " depth matters. The clock counts nodes, so no figure depends on the machine.",
        "depth",
        "how-it-works/search-depth.md",
        Claim(
            "unbeaten in 73.4 % of 2,000 games against a table written by hand; 72.3 % won, none lost on time",
            "cnn_unbeaten_vs_hand_table",
            0.734,
            "its table is not printed; three were written for this",
            missed="its table is not printed; against three written for this, the published net loses to those that"
            " spend more compute",
            run="cnn_unbeaten_vs_fixed",
        ),
        ("unbeaten_vs_fixed", "macro_f1"),
    ),
    "joseki": System(
        "Joseki library",
        "Yue, Li, Qiu 2007",
        "Corner sequences of Go games as a finite-state machine, indexed by a pattern code that is invariant under all"
        " 16 symmetries. It recommends the next move.",
        "joseki",
        "how-it-works/joseki.md",
        Claim(
            "27,686 corner patterns of 507 games; 43 of 42,691 encodings clash",
            "clashes_unresolved",
            43,
            "the exact key tells all patterns apart; the paper's own code, read from its one example, does not",
            less=True,
        ),
        ("patterns", "recommend_top1"),
    ),
    "reliability": System(
        "Reliability",
        "",
        "The whole graph killed at random moments, every reader given hostile text, the same tasks on Dask.",
        "",
        "faults.md",
    ),
    "crawl": System(
        "Crawl rehearsal",
        "",
        "The replica plays the live site: 10,000 games, failures, hostile names, a restart, renamed players"
        " and growth. The crawl is ended by signals in every phase.",
        "",
        "crawl.md",
    ),
}
