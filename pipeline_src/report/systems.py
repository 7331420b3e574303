"""Title, source and summary of each system of the registry, for the report and the results page."""

from typing import NamedTuple


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
    headline: str = ""
    """The figure of a published system for the short table."""


SYSTEMS = {
    "amazons_net": System(
        "Amazons-Net",
        "Patent CN 111330255 B",
        "Two convolutional nets predict the move and the arrow of a turn from recorded games. A residual net of ours is"
        " trained on the same samples.",
        "amazons",
        "how-it-works/amazons-net.md",
        "from_to_top1",
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
        " the gate. Published on 15x15; the laptop profile plays on 9x9.",
        "gomoku",
        "how-it-works/gomoku-zero.md",
        "score_vs_mcts1000",
    ),
    "gomoku_15": System(
        "Gomoku on 15x15",
        "",
        "A net that learns from games of the engine against itself. It comes with the package and plays"
        " with the solver of forced wins.",
        "",
        "gomoku.md",
    ),
    "growing_boards": System(
        "Self-learning on growing boards",
        "Patent application, 2021",
        "A net learns on a small board until it improves no more. Then its weights are carried over to a larger board.",
        "growing",
        "how-it-works/growing-boards.md",
        "time_to_scratch_strength",
    ),
    "search_depth": System(
        "Search depth chosen by a net",
        "Li, Gao 2022",
        "A small net reads the position and chooses how deep the engine searches, so that the clock is spent where"
        " depth matters. The clock counts nodes, so no figure depends on the machine.",
        "depth",
        "how-it-works/search-depth.md",
        "unbeaten_vs_fixed",
    ),
    "joseki": System(
        "Joseki library",
        "Yue, Li, Qiu 2007",
        "Corner sequences of Go games as a finite-state machine, indexed by a pattern code that is invariant under all"
        " 16 symmetries. It recommends the next move.",
        "joseki",
        "how-it-works/joseki.md",
        "patterns",
    ),
    "reliability": System(
        "Reliability",
        "",
        "The whole graph killed at random moments, every reader given hostile text, the same tasks on Dask and Ray.",
        "",
        "faults.md",
    ),
    "crawl": System(
        "Crawl rehearsal",
        "",
        "An independent server plays the live site: 10,000 games, failures, hostile names, a restart, renamed players"
        " and growth. The crawl is ended by signals in every phase.",
        "",
        "crawl.md",
    ),
}
