"""All headline figures of all systems: the file of each, its published value, and the stage that makes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pipeline_src.systems.amazons_net.printed import printed_words
from pipeline_src.systems.gomoku_zero.evaluation_params import data_words, player_words, start_words
from pipeline_src.systems.growing_boards import evaluation_params as growing

Words = Callable[[Mapping[str, Any]], str]
"""Makes words from the tree of params.yaml."""


@dataclass(frozen=True)
class Counted:
    """Words on the data of a figure: those with a count above 0 in a metrics file."""

    path: str
    key: str
    """Dotted path of the counts in the file."""
    words: Mapping[str, str]
    """Words by the keys of the counts."""


@dataclass(frozen=True)
class Figure:
    """One figure. Its value in a metrics file is a number or ``{value, low, high, n}``.

    In ``path``, ``{section.key}`` stands for the value in params.yaml.
    """

    words: str
    """Description for tables."""
    unit: str
    path: str = ""
    """Metrics file of the graph; empty if only committed measurements have the figure."""
    key: str = ""
    """Dotted path of the value in the file."""
    stage: str = ""
    """DVC stage that makes the file."""
    published: float | None = None
    data: str | Counted | Words = ""
    """Origin of the data, in words."""
    timing: str = ""
    """Key in `generation_times.figures`, in place of a metrics file."""
    times: str = ""
    """File of times with the key, in place of a metrics file."""
    player: Words | None = None
    """The player that the graph measures, in words. An older measurement by other code
    stands behind all others of such a figure."""
    trained: Words | None = None
    """How the nets that the graph measures were trained, in words, if otherwise than by our own choices. A committed
    measurement with such words stands behind the others of its figure."""
    named: Mapping[str, Any] = field(default_factory=dict)
    """Params that the words name, by dotted keys. A value that the graph made with others is left out."""


REPORTS = "artifacts/reports/amazons"
CRAWLED = Counted(
    f"{REPORTS}/samples.json",
    "sources",
    {"engine": "engine games", "littlegolem": "LittleGolem", "file": "files"},
)
GOMOKU = "artifacts/reports/gomoku/evaluate.json"
GROWING = "artifacts/reports/growing/evaluate.json"
SELF_PLAY = "its own games"
ANCHOR = "mcts:playouts=1000"
"""Player that has Elo 0."""
DEPTH = "artifacts/reports/depth"
ENGINE_GAMES = "engine games"


def _amazons(words: str, unit: str, file: str, key: str, stage: str, published: float | None = None) -> Figure:
    return Figure(words, unit, f"{REPORTS}/{file}", key, f"amazons_{stage}", published, CRAWLED)


def _nets(words: str, name: str, unit: str = "fraction") -> Figure:
    figure = _amazons(words, unit, "evaluate/{amazons_match.loss}.json", f"nets.{name}", "evaluate")
    return replace(figure, trained=printed_words)


def _residual(words: str, name: str, unit: str = "fraction") -> Figure:
    return _amazons(words, unit, "evaluate/residual.json", f"nets.{name}", "evaluate")


def _score(words: str, match: str, opponent: str) -> Figure:
    figure = _amazons(words, "score", "match.json", f"{match}.score", "match")
    trained = printed_words if "Amazons-Net" in words else None
    return replace(figure, named={f"amazons_match.matches.{match}.b": opponent}, trained=trained)


def _gomoku(
    words: str,
    unit: str,
    key: str,
    published: float | None = None,
    named: Mapping[str, Any] | None = None,
    player: Words = player_words,
) -> Figure:
    """A figure of gomoku_evaluate, and the keys of that section that its words name."""
    keys = {f"gomoku_evaluate.{name}": value for name, value in (named or {}).items()}
    return Figure(words, unit, GOMOKU, key, "gomoku_evaluate", published, data_words, player=player, named=keys)


def _gomoku_score(words: str, opponent: str, player: str) -> Figure:
    return _gomoku(words, "score", f"score_vs_{opponent}", named={f"opponents.{opponent}.player": player})


def _gomoku_time(words: str, unit: str, name: str, published: float | None = None) -> Figure:
    return Figure(words, unit, published=published, stage="gomoku_generation", data=SELF_PLAY, timing=name)


def _calibration(game: str, net: str, data: str | Counted | Words, player: Words | None = None) -> dict[str, Figure]:
    """Figures of a stage ``..._calibration``."""
    words = {
        "calibration_brier": ("value_brier", "squared error", "Brier score of its win rates (one half always: 0.25)"),
        "calibration_bias": ("value_bias", "fraction", "win rate predicted, less points scored"),
        "start_first": ("start_first", "win rate", "win rate of the first side at the start"),
        "start_second": ("start_second", "win rate", "win rate of the second side a ply later"),
    }
    file, stage = f"artifacts/reports/{game}/calibration.json", f"{game}_calibration"
    return {
        name: Figure(f"{net} against itself: {about}", unit, file, key, stage, data=data, player=player)
        for name, (key, unit, about) in words.items()
    }


def _levels(size: int, variant: str) -> Figure:
    """Figure of a ladder of opponents (`players.ladders`)."""
    return Figure(f"levels on {size}x{size} {variant}: Elo from the weakest to the strongest", "Elo")


JOSEKI = "artifacts/reports/joseki"
JOSEKI_GAMES = Counted(
    f"{JOSEKI}/build.json",
    "sources",
    {"engine": "made games, from textbook joseki", "littlegolem": "LittleGolem", "file": "files"},
)


def _library(words: str, unit: str, key: str, published: float | None = None) -> Figure:
    return Figure(words, unit, f"{JOSEKI}/build.json", key, "joseki_build", published, JOSEKI_GAMES)


def _recommender(words: str, key: str) -> Figure:
    return Figure(words, "fraction", f"{JOSEKI}/evaluate.json", key, "joseki_evaluate", data=JOSEKI_GAMES)


def _joseki_time(words: str, key: str, published: float | None = None) -> Figure:
    file = f"{JOSEKI}/evaluate.timings.json"
    return Figure(words, "microseconds", "", key, "joseki_evaluate", published, JOSEKI_GAMES, times=file)


def _depth(words: str, unit: str, key: str, published: float | None = None) -> Figure:
    return Figure(words, unit, f"{DEPTH}/evaluate.json", key, "depth_evaluate", published, ENGINE_GAMES)


def _depth_match(words: str, unit: str, key: str, published: float | None = None) -> Figure:
    return Figure(words, unit, f"{DEPTH}/match.json", key, "depth_match", published, ENGINE_GAMES)


REGISTRY: dict[str, dict[str, Figure]] = {
    "amazons_net": {
        "games": _amazons("games in the data set", "games", "samples.json", "games", "samples", 25_000),
        "samples": _amazons("samples in the data set", "samples", "samples.json", "samples", "samples", 1_879_931),
        "from_to_top1": _nets("Move-Net: top-1 accuracy, move (from, to)", "from_to_top1"),
        "from_to_top5": _nets("Move-Net: top-5 accuracy, move (from, to)", "from_to_top5"),
        "arrow_top1": _nets("Arrow-Net: top-1 accuracy, arrow given the move", "arrow_top1"),
        "turn_top1": _nets("Amazons-Net: top-1 accuracy, whole turn", "turn_top1"),
        "value_accuracy": _nets("Arrow-Net: value accuracy", "value_accuracy"),
        "value_brier": _nets("Arrow-Net: Brier score", "value_brier", "squared error"),
        "legal_rate": _nets("Amazons-Net: legal turns", "legal_rate"),
        "baseline_turn_top1": _amazons(
            "one-ply player: top-1 accuracy, whole turn",
            "fraction",
            "evaluate/baselines.json",
            "one_ply.turn_top1",
            "baselines",
        ),
        "score_vs_random": _score("Amazons-Net: score against the random player", "random", "random"),
        "score_vs_one_ply": _score("Amazons-Net: score against the one-ply player", "one_ply", "one_ply"),
        "score_vs_alphabeta": _score(
            "Amazons-Net: score against alpha-beta, 10,000 nodes a move", "alphabeta", "alphabeta:nodes=10000"
        ),
        "residual_from_to_top1": _residual("residual net: top-1 accuracy, move (from, to)", "from_to_top1"),
        "residual_arrow_top1": _residual("residual net: top-1 accuracy, arrow given the move", "arrow_top1"),
        "residual_turn_top1": _residual("residual net: top-1 accuracy, whole turn", "turn_top1"),
        "residual_value_accuracy": _residual("residual net: value accuracy", "value_accuracy"),
        "residual_score_vs_nets": _score(
            "residual net: score against Amazons-Net", "residual_nets", "nets:{published}"
        ),
        "residual_score_vs_one_ply": _score(
            "residual net: score against the one-ply player", "residual_one_ply", "one_ply"
        ),
        **{f"residual_{name}": one for name, one in _calibration("amazons", "residual net", CRAWLED).items()},
        "residual_puct_vs_alphabeta": Figure(
            "PUCT with the packaged residual net: score against alpha-beta, 100 ms a move", "score"
        ),
    },
    "amazons_engine": {
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
        **{f"levels_{size}_standard": _levels(size, "standard") for size in (10, 8, 6)},
    },
    "gomoku_zero": {
        "generations": _gomoku("generations of self-play", "generations", "generations", 28, player=start_words),
        "score_vs_mcts1000": _gomoku_score("score against MCTS, 1,000 playouts", "mcts1000", ANCHOR),
        "score_vs_minimax": _gomoku_score("score against minimax, 2 plies", "minimax", "minimax:depth=2"),
        "score_vs_alphabeta2": _gomoku_score("score against alpha-beta, 2 plies", "alphabeta2", "alphabeta:depth=2"),
        "score_vs_alphabeta4": _gomoku_score("score against alpha-beta, 4 plies", "alphabeta4", "alphabeta:depth=4"),
        # Of the models 1, 4, ..., 28, those from 13 on.
        "best_of_five_won": _gomoku(
            "rated models that won their best-of-five matches",
            "fraction of the models",
            "best_of_five_won",
            0.6,
            {"best_of": 5},
            player=partial(player_words, best=False),
        ),
        # About 4,000 were printed, on a scale whose zero was not.
        "elo_last": _gomoku(
            "Elo of the last model (MCTS, 1,000 playouts = 0)",
            "Elo",
            "elo_last",
            named={"anchor": "mcts1000", "opponents.mcts1000.player": ANCHOR},
        ),
        **_calibration("gomoku", "best player", data_words, start_words),
        "train_hours": _gomoku_time("time of self-play, training and gates", "hours", "train_hours", 48),
        "self_play_games_per_hour": _gomoku_time(
            "self-play games an hour", "games an hour", "self_play_games_per_hour"
        ),
    },
    "gomoku_engine": {
        "forced_wins_9": Figure("forced wins proven in 1 s, distance 3 to 9 plies", "fraction"),
        "forced_wins_15": Figure("forced wins proven in 1 s, distance 10 to 15 plies", "fraction"),
        "forced_wins_25": Figure("forced wins proven in 1 s, distance 16 to 25 plies", "fraction"),
        "score_vs_previous_15": Figure("engine: score against alpha-beta, 300 ms a move, 15x15", "score"),
        "score_vs_previous_20": Figure("engine: score against alpha-beta, 300 ms a move, 20x20", "score"),
        "score_solver_in_zero": Figure(
            "self-play net with the solver: score against the net without, 60 ms a move, 9x9", "score"
        ),
        "late_moves": Figure("moves of the brain later than 300 ms, beside a busy process", "moves"),
        "renju_suite": Figure("Renju: known cells classified correctly as forbidden or allowed", "fraction"),
        **{f"levels_15_{rule}": _levels(15, rule) for rule in ("freestyle", "renju")},
        "levels_9_freestyle": _levels(9, "freestyle"),
    },
    "growing_boards": {
        "sizes": Figure("board sizes learned in turn", "boards", GROWING, "sizes", "growing_evaluate", data=SELF_PLAY),
        "time_to_scratch_strength": Figure(
            "compute to reach the strength of training from scratch, as a share of its compute",
            "compute of training from scratch",
        ),
        "score_grown_vs_scratch": Figure(
            "grown net: score against the net trained from scratch, equal compute", "score"
        ),
        "score_vs_mcts1000": Figure(
            "largest board: score against MCTS, 1,000 playouts",
            "score",
            GROWING,
            "score_vs_mcts1000",
            "growing_evaluate",
            data=SELF_PLAY,
            player=growing.player_words,
            named={"growing_evaluate.opponent": ANCHOR},
        ),
        "brain_time_losses": Figure("late moves of the brain", "moves"),
    },
    "joseki": {
        "games": _library("games in the library", "games", "games", 507),
        "patterns": _library("corner patterns", "patterns", "patterns", 27_686),
        "encodings": _library("encodings (a pattern after a move)", "encodings", "encodings", 42_691),
        "clashes": _library("hash collisions, the paper's code", "encodings", "clashes", 43),
        "clashes_ours": _library("hash collisions, our second code", "encodings", "clashes_ours"),
        "clashes_unresolved": _library("hash collisions, the exact key", "encodings", "clashes_unresolved"),
        "encode_us": _joseki_time("time to encode a pattern, the paper's code", "encode_us", 2_690),
        "canonical_us": _joseki_time("time to encode a pattern, the exact key", "canonical_us"),
        "lookup_us": _joseki_time("time to look a pattern up, the exact key", "lookup_us"),
        "lookup_paper_us": _joseki_time("time to look a pattern up, the paper's method", "lookup_paper_us", 22_000),
        "recommend_top1": _recommender("recommender: top-1 accuracy on held-out moves", "recommend_top1"),
        "recommend_top3": _recommender("recommender: top-3 accuracy on held-out moves", "recommend_top3"),
        "baseline_top3": _recommender("baseline (most frequent moves by move number): top-3 accuracy", "baseline_top3"),
        "hit_rate": _recommender("hit rate: held-out patterns found in the library", "hit_rate"),
    },
    "search_depth": {
        "positions": _depth("labelled positions", "positions", "positions", 81_742_572),
        # No game of ours is drawn, so both are the same share. The published rates are those of the published net.
        "unbeaten_vs_fixed": _depth_match(
            "our net: unbeaten rate against a fixed table of equal compute", "fraction", "ours_table.score"
        ),
        "wins_vs_fixed": _depth_match("our net: win rate against that table", "fraction", "ours_table.score"),
        "time_outs": _depth_match("our net: games lost on time", "games", "ours_table.time_outs"),
        "mean_margin": _depth_match(
            "our net: mean margin against that table", "squares left", "ours_table.mean_margin"
        ),
        "score_vs_iterative_deepening": _depth_match(
            "our net: score against iterative deepening, same clock", "score", "ours_deepening.score"
        ),
        # The paper's net and recipe.
        "cnn_unbeaten_vs_fixed": _depth_match(
            "published net: unbeaten rate against a fixed table of equal compute", "fraction", "cnn_table.score"
        ),
        "cnn_score_vs_iterative_deepening": _depth_match(
            "published net: score against iterative deepening, same clock", "score", "cnn_deepening.score"
        ),
        "unbeaten_vs_hand_table": Figure("our net: unbeaten rate against three tables written by hand", "fraction"),
        "cnn_unbeaten_vs_hand_table": Figure(
            "published net: unbeaten rate against three tables written by hand", "fraction", published=0.734
        ),
        # Of the paper's net, balanced as published, on the test split as it is.
        "accuracy": _depth("published net and recipe: accuracy of the depth", "fraction", "models.smote.accuracy"),
        "macro_f1": _depth("published net and recipe: macro F1 of the depth", "F1", "models.smote.macro_f1"),
    },
    "reliability": {
        "kills": Figure("kills (SIGKILL) of a stage, of DVC or of a flow at random moments", "kills"),
        "kills_same_bytes": Figure("kills after which the run ended in the same bytes as an undisturbed one", "kills"),
        "hostile_records": Figure("hostile texts given to the readers", "texts"),
        "hostile_crashes": Figure("hostile texts that led to a crash, a hang or a file written elsewhere", "texts"),
        "dask_same_bytes": Figure("outputs with the same bytes on Dask", "fraction"),
    },
    "crawl": {
        "games_equal": Figure("valid games stored turn by turn as they were played", "fraction"),
        "requests_per_new_game": Figure("requests a stored game", "requests"),
        "finished_games_asked_twice": Figure("finished games requested twice", "games"),
        "least_gap_s": Figure("shortest time between two requests at a delay of 1 s", "seconds"),
        "stop_s": Figure("longest time from a signal to the end of the crawl", "seconds"),
    },
}
