"""What the systems of the registry are, in the words of the report."""

from typing import NamedTuple


class System(NamedTuple):
    """One of the registry's systems."""

    title: str
    source: str
    """The publication; empty where it is ours alone."""
    summary: str
    reports: str
    """Folder below artifacts/reports whose charts and boards belong to it; empty where there is none."""
    page: str
    """Its page below docs/."""


SYSTEMS = {
    "amazons_net": System(
        "Amazons-Net",
        "Patent CN 111330255 B",
        "Two convolutional nets name a move and its arrow, learned from games. Beside them a residual net of ours, on"
        " the same samples.",
        "amazons",
        "glossary.md",
    ),
    "amazons_engine": System(
        "An Amazons engine",
        "",
        "Alpha-beta and Monte Carlo tree search with a territory evaluation: what the nets are measured by, and what"
        " the search depth is chosen for.",
        "",
        "engine.md",
    ),
    "gomoku_engine": System(
        "A Gomoku engine",
        "",
        "Forced wins proven by threats, and alpha-beta on boards that keep the patterns of every line.",
        "",
        "gomoku.md",
    ),
    "gomoku_zero": System(
        "Gomoku from self-play",
        "Li et al.: Monte Carlo tree search and one residual network",
        "A net learns from games against itself, generation by generation; a new one replaces the best only if it wins"
        " their gate. Published on 15x15; the laptop's board is smaller.",
        "gomoku",
        "gomoku.md",
    ),
    "growing_boards": System(
        "Self-learning on growing boards",
        "Patent application, 2021",
        "A net learns on a small board until it learns no more, then goes on on a larger one with what it has.",
        "growing",
        "growing-boards.md",
    ),
    "search_depth": System(
        "The search depth, chosen by a net",
        "Li, Gao 2022",
        "A small net reads the position and says how deep the engine shall search, so that a clock is spent where it"
        " pays. The clock counts nodes, so no figure depends on the machine.",
        "depth",
        "search-depth.md",
    ),
    "joseki": System(
        "A joseki library",
        "Yue, Li, Qiu 2007",
        "Corner sequences of Go games as a finite-state machine, found by a pattern code that is the same under all 16"
        " symmetries; it recommends the next move.",
        "joseki",
        "joseki.md",
    ),
    "reliability": System(
        "What it withstands",
        "",
        "The whole graph killed at random moments, every reader given hostile text, the same work on other backends.",
        "",
        "faults.md",
    ),
    "crawl": System(
        "The crawl, rehearsed",
        "",
        "A server of our own plays the live site: 10,000 games, failures, hostile names, a restart, players who rename"
        " themselves, growth; and the crawl is ended by signals in every phase.",
        "",
        "crawl.md",
    ),
}
