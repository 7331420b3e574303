"""Every headline figure of every system: where it is found, what was published, how to rerun it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Counted:
    """Words about the data of a figure: those whose key has a count above 0 in a metrics file."""

    path: str
    key: str
    """Dotted path of the counts in the file."""
    words: Mapping[str, str]
    """By the counts' keys."""


@dataclass(frozen=True)
class Figure:
    """One figure. Its value is a number in a metrics file, or a ``{value, low, high, n}`` there.

    In ``path``, ``{section.key}`` stands for that value of params.yaml.
    """

    unit: str
    path: str = ""
    """Metrics file of the graph; empty where only a committed measurement tells the figure."""
    key: str = ""
    """Dotted path of the value in the file."""
    stage: str = ""
    """DVC stage that makes it."""
    published: float | None = None
    data: str | Counted = ""
    """Where the data came from, in words."""
    timing: str = ""
    """Name among `generation_times.figures`, in place of a metrics file: times are no metrics."""
    times: str = ""
    """File of times that has the key, in place of a metrics file."""


REPORTS = "artifacts/reports/amazons"
CRAWLED = Counted(
    f"{REPORTS}/samples.json",
    "sources",
    {"engine": "engine games", "littlegolem": "LittleGolem", "file": "files"},
)
GOMOKU = "artifacts/reports/gomoku/evaluate.json"
GROWING = "artifacts/reports/growing/evaluate.json"
SELF_PLAY = "its own games"
DEPTH = "artifacts/reports/depth"
ENGINE_GAMES = "engine games"


def _amazons(unit: str, file: str, key: str, stage: str, published: float | None = None) -> Figure:
    return Figure(unit, f"{REPORTS}/{file}", key, f"amazons_{stage}", published, CRAWLED)


def _nets(name: str, unit: str = "fraction", published: float | None = None) -> Figure:
    return _amazons(unit, "evaluate/{amazons_match.loss}.json", f"nets.{name}", "evaluate", published)


def _residual(name: str, unit: str = "fraction") -> Figure:
    return _amazons(unit, "evaluate/residual.json", f"nets.{name}", "evaluate")


def _score(match: str) -> Figure:
    return _amazons("score", "match.json", f"{match}.score", "match")


def _gomoku(unit: str, key: str, published: float | None = None) -> Figure:
    return Figure(unit, GOMOKU, key, "gomoku_evaluate", published, SELF_PLAY)


def _gomoku_time(unit: str, name: str, published: float | None = None) -> Figure:
    return Figure(unit, published=published, stage="gomoku_generation", data=SELF_PLAY, timing=name)


JOSEKI = "artifacts/reports/joseki"
JOSEKI_GAMES = Counted(
    f"{JOSEKI}/build.json",
    "sources",
    {"engine": "made games, from textbook joseki", "littlegolem": "LittleGolem", "file": "files"},
)


def _library(unit: str, key: str, published: float | None = None) -> Figure:
    return Figure(unit, f"{JOSEKI}/build.json", key, "joseki_build", published, JOSEKI_GAMES)


def _recommender(key: str) -> Figure:
    return Figure("fraction", f"{JOSEKI}/evaluate.json", key, "joseki_evaluate", data=JOSEKI_GAMES)


def _joseki_time(key: str, published: float | None = None) -> Figure:
    file = f"{JOSEKI}/evaluate.timings.json"
    return Figure("microseconds", "", key, "joseki_evaluate", published, JOSEKI_GAMES, times=file)


def _depth(unit: str, key: str, published: float | None = None) -> Figure:
    return Figure(unit, f"{DEPTH}/evaluate.json", key, "depth_evaluate", published, ENGINE_GAMES)


def _depth_match(unit: str, key: str, published: float | None = None) -> Figure:
    return Figure(unit, f"{DEPTH}/match.json", key, "depth_match", published, ENGINE_GAMES)


REGISTRY: dict[str, dict[str, Figure]] = {
    "amazons_net": {
        "games": _amazons("games", "samples.json", "games", "samples", 25_000),
        "samples": _amazons("samples", "samples.json", "samples", "samples", 1_879_931),
        "from_to_top1": _nets("from_to_top1"),
        "from_to_top5": _nets("from_to_top5"),
        "arrow_top1": _nets("arrow_top1"),
        "turn_top1": _nets("turn_top1"),
        "value_accuracy": _nets("value_accuracy"),
        "value_brier": _nets("value_brier", "squared error"),
        "legal_rate": _nets("legal_rate", published=1.0),
        "baseline_turn_top1": _amazons("fraction", "evaluate/baselines.json", "one_ply.turn_top1", "baselines"),
        "score_vs_random": _score("random"),
        "score_vs_one_ply": _score("one_ply"),
        "score_vs_alphabeta": _score("alphabeta"),
        "residual_from_to_top1": _residual("from_to_top1"),
        "residual_arrow_top1": _residual("arrow_top1"),
        "residual_turn_top1": _residual("turn_top1"),
        "residual_value_accuracy": _residual("value_accuracy"),
        "residual_score_vs_nets": _score("residual_nets"),
        "residual_score_vs_one_ply": _score("residual_one_ply"),
    },
    "amazons_engine": {
        "score_vs_openspiel_mcts": Figure("score"),
        "score_vs_one_ply": Figure("score"),
        "score_uct_vs_alphabeta": Figure("score"),
        "score_nets_puct_vs_alphabeta": Figure("score"),
        "elo_per_doubling": Figure("Elo"),
        "illegal_moves": Figure("games"),
        "time_losses": Figure("games"),
    },
    "gomoku_zero": {
        "generations": _gomoku("generations", "generations", 28),
        "score_vs_mcts1000": _gomoku("score", "score_vs_mcts1000"),
        "score_vs_minimax": _gomoku("score", "score_vs_minimax"),
        "score_vs_alphabeta2": _gomoku("score", "score_vs_alphabeta2"),
        "score_vs_alphabeta4": _gomoku("score", "score_vs_alphabeta4"),
        # Of the models 1, 4, ..., 28, those from 13 on.
        "best_of_five_won": _gomoku("fraction of the models", "best_of_five_won", 0.6),
        # About 4,000 were printed, on a scale whose zero was not.
        "elo_last": _gomoku("Elo, MCTS with 1,000 playouts being 0", "elo_last"),
        "train_hours": _gomoku_time("hours", "train_hours", 48),
        "self_play_games_per_hour": _gomoku_time("games an hour", "self_play_games_per_hour"),
    },
    "growing_boards": {
        "sizes": Figure("boards", GROWING, "sizes", "growing_evaluate", data=SELF_PLAY),
        "time_to_scratch_strength": Figure("computing of learning from scratch"),
        "score_grown_vs_scratch": Figure("score"),
        "score_vs_mcts1000": Figure("score", GROWING, "score", "growing_evaluate", data=SELF_PLAY),
        "brain_time_losses": Figure("moves"),
    },
    "joseki": {
        "games": _library("games", "games", 507),
        "patterns": _library("patterns", "patterns", 27_686),
        "encodings": _library("encodings", "encodings", 42_691),
        "clashes": _library("encodings", "clashes", 43),
        "clashes_ours": _library("encodings", "clashes_ours"),
        "clashes_unresolved": _library("encodings", "clashes_unresolved"),
        "encode_us": _joseki_time("encode_us", 2_690),
        "canonical_us": _joseki_time("canonical_us"),
        "lookup_us": _joseki_time("lookup_us"),
        "lookup_paper_us": _joseki_time("lookup_paper_us", 22_000),
        "recommend_top1": _recommender("recommend_top1"),
        "recommend_top3": _recommender("recommend_top3"),
        "baseline_top3": _recommender("baseline_top3"),
        "hit_rate": _recommender("hit_rate"),
    },
    "search_depth": {
        "positions": _depth("positions", "positions", 81_742_572),
        # The best net against the paper's opponent; no game of ours is drawn, so both are the same share.
        "unbeaten_vs_fixed": _depth_match("fraction", "ours_table.score", 0.734),
        "wins_vs_fixed": _depth_match("fraction", "ours_table.score", 0.723),
        "time_outs": _depth_match("games", "ours_table.time_outs", 0),
        "mean_margin": _depth_match("squares left", "ours_table.margin", 1.65),
        "score_vs_iterative_deepening": _depth_match("score", "ours_deepening.score"),
        # The paper's net and recipe.
        "cnn_unbeaten_vs_fixed": _depth_match("fraction", "cnn_table.score"),
        "cnn_score_vs_iterative_deepening": _depth_match("score", "cnn_deepening.score"),
        # Of the paper's net, balanced as published, on the test split as it is.
        "accuracy": _depth("fraction", "models.smote.accuracy"),
        "macro_f1": _depth("F1", "models.smote.macro_f1"),
    },
}
