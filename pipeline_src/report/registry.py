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

    words: str
    """What it is, for people."""
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


def _amazons(words: str, unit: str, file: str, key: str, stage: str, published: float | None = None) -> Figure:
    return Figure(words, unit, f"{REPORTS}/{file}", key, f"amazons_{stage}", published, CRAWLED)


def _nets(words: str, name: str, unit: str = "fraction", published: float | None = None) -> Figure:
    return _amazons(words, unit, "evaluate/{amazons_match.loss}.json", f"nets.{name}", "evaluate", published)


def _residual(words: str, name: str, unit: str = "fraction") -> Figure:
    return _amazons(words, unit, "evaluate/residual.json", f"nets.{name}", "evaluate")


def _score(words: str, match: str) -> Figure:
    return _amazons(words, "score", "match.json", f"{match}.score", "match")


def _gomoku(words: str, unit: str, key: str, published: float | None = None) -> Figure:
    return Figure(words, unit, GOMOKU, key, "gomoku_evaluate", published, SELF_PLAY)


def _gomoku_time(words: str, unit: str, name: str, published: float | None = None) -> Figure:
    return Figure(words, unit, published=published, stage="gomoku_generation", data=SELF_PLAY, timing=name)


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
        "games": _amazons("games trained and tested on", "games", "samples.json", "games", "samples", 25_000),
        "samples": _amazons("samples", "samples", "samples.json", "samples", "samples", 1_879_931),
        "from_to_top1": _nets("move (from, to) named first", "from_to_top1"),
        "from_to_top5": _nets("move among the first five", "from_to_top5"),
        "arrow_top1": _nets("arrow named first, given the move", "arrow_top1"),
        "turn_top1": _nets("whole turn named first", "turn_top1"),
        "value_accuracy": _nets("winner named (Arrow-Net)", "value_accuracy"),
        "value_brier": _nets("Brier score of the win rate", "value_brier", "squared error"),
        "legal_rate": _nets("turns that are legal", "legal_rate", published=1.0),
        "baseline_turn_top1": _amazons(
            "one-ply player: whole turn named first",
            "fraction",
            "evaluate/baselines.json",
            "one_ply.turn_top1",
            "baselines",
        ),
        "score_vs_random": _score("score against a random player", "random"),
        "score_vs_one_ply": _score("score against the one-ply player", "one_ply"),
        "score_vs_alphabeta": _score("score against alpha-beta, 10,000 nodes a move", "alphabeta"),
        "residual_from_to_top1": _residual("our residual net: move named first", "from_to_top1"),
        "residual_arrow_top1": _residual("our residual net: arrow named first", "arrow_top1"),
        "residual_turn_top1": _residual("our residual net: whole turn named first", "turn_top1"),
        "residual_value_accuracy": _residual("our residual net: winner named", "value_accuracy"),
        "residual_score_vs_nets": _score("our residual net: score against Amazons-Net", "residual_nets"),
        "residual_score_vs_one_ply": _score("our residual net: score against the one-ply player", "residual_one_ply"),
    },
    "amazons_engine": {
        "score_vs_openspiel_mcts": Figure("alpha-beta against OpenSpiel's C++ MCTS, 100 ms a move each", "score"),
        "score_vs_one_ply": Figure("alpha-beta, 100,000 nodes a move, against the one-ply player", "score"),
        "score_vs_previous": Figure("alpha-beta against the one of revision 5b54a18, 300 ms a move", "score"),
        "score_vs_previous_8": Figure("the same on 8x8", "score"),
        "score_uct_vs_alphabeta": Figure("UCT against alpha-beta, 100 ms a move", "score"),
        "score_nets_puct_vs_alphabeta": Figure("PUCT with the residual net against alpha-beta, 100 ms a move", "score"),
        "elo_per_doubling": Figure("Elo that twice the time is worth", "Elo"),
        "illegal_moves": Figure("games lost by an illegal move", "games"),
        "time_losses": Figure("games lost on time", "games"),
        "late_moves": Figure("answers later than the 50 ms of a move, beside a busy process", "answers"),
    },
    "gomoku_zero": {
        "generations": _gomoku("generations of self-play", "generations", "generations", 28),
        "score_vs_mcts1000": _gomoku("score against MCTS with 1,000 random playouts", "score", "score_vs_mcts1000"),
        "score_vs_minimax": _gomoku("score against minimax, 2 plies", "score", "score_vs_minimax"),
        "score_vs_alphabeta2": _gomoku("score against alpha-beta, 2 plies", "score", "score_vs_alphabeta2"),
        "score_vs_alphabeta4": _gomoku("score against alpha-beta, 4 plies", "score", "score_vs_alphabeta4"),
        # Of the models 1, 4, ..., 28, those from 13 on.
        "best_of_five_won": _gomoku(
            "models that won their best-of-five match", "fraction of the models", "best_of_five_won", 0.6
        ),
        # About 4,000 were printed, on a scale whose zero was not.
        "elo_last": _gomoku("Elo of the last model", "Elo, MCTS with 1,000 playouts being 0", "elo_last"),
        "train_hours": _gomoku_time("self-play, training and gates", "hours", "train_hours", 48),
        "self_play_games_per_hour": _gomoku_time("speed of self-play", "games an hour", "self_play_games_per_hour"),
    },
    "gomoku_engine": {
        "forced_wins_9": Figure("announced wins of 3 to 9 plies that the solver proves in 1 s", "fraction"),
        "forced_wins_15": Figure("announced wins of 10 to 15 plies that it proves in 1 s", "fraction"),
        "forced_wins_25": Figure("announced wins of 16 to 25 plies that it proves in 1 s", "fraction"),
        "score_vs_previous_15": Figure("engine against plain alpha-beta, 300 ms a move, 15x15", "score"),
        "score_vs_previous_20": Figure("engine against plain alpha-beta, 300 ms a move, 20x20", "score"),
        "score_solver_in_zero": Figure("self-play net with the solver against the net without, 300 ms a move", "score"),
        "late_moves": Figure("answers of the brain, of 1,000 beside a busy process, later than 300 ms", "moves"),
        "renju_suite": Figure("known stones of Renju, forbidden or not, that the rules tell right", "fraction"),
    },
    "growing_boards": {
        "sizes": Figure("sizes of boards", "boards", GROWING, "sizes", "growing_evaluate", data=SELF_PLAY),
        "time_to_scratch_strength": Figure(
            "computing to the strength that learning from scratch ends in, of the latter's",
            "computing of learning from scratch",
        ),
        "score_grown_vs_scratch": Figure("score at the end against scratch at the end, as much computing", "score"),
        "score_vs_mcts1000": Figure(
            "score on the largest board against MCTS with 1,000 random playouts",
            "score",
            GROWING,
            "score_vs_mcts1000",
            "growing_evaluate",
            data=SELF_PLAY,
        ),
        "brain_time_losses": Figure("late moves of the brain, of 1,000 timed", "moves"),
    },
    "joseki": {
        "games": _library("games", "games", "games", 507),
        "patterns": _library("patterns", "patterns", "patterns", 27_686),
        "encodings": _library("encodings", "encodings", "encodings", 42_691),
        "clashes": _library("clashing encodings, the paper's code", "encodings", "clashes", 43),
        "clashes_ours": _library("clashing encodings, our second code", "encodings", "clashes_ours"),
        "clashes_unresolved": _library("clashing encodings, the exact key", "encodings", "clashes_unresolved"),
        "encode_us": _joseki_time("time of an encoding, the paper's code", "encode_us", 2_690),
        "canonical_us": _joseki_time("time of an encoding, the exact key", "canonical_us"),
        "lookup_us": _joseki_time("time of a look-up by the exact key", "lookup_us"),
        "lookup_paper_us": _joseki_time("time of a look-up, the paper's way", "lookup_paper_us", 22_000),
        "recommend_top1": _recommender("held-out moves named first", "recommend_top1"),
        "recommend_top3": _recommender("held-out moves among the first three", "recommend_top3"),
        "baseline_top3": _recommender(
            "what is played most at that move number: among the first three", "baseline_top3"
        ),
        "hit_rate": _recommender("held-out positions found in the library", "hit_rate"),
    },
    "search_depth": {
        "positions": _depth("positions with a label", "positions", "positions", 81_742_572),
        # The best net against the paper's opponent; no game of ours is drawn, so both are the same share.
        "unbeaten_vs_fixed": _depth_match(
            "our net unbeaten by a fixed table of as much computing", "fraction", "ours_table.score", 0.734
        ),
        "wins_vs_fixed": _depth_match("our net's games won against that table", "fraction", "ours_table.score", 0.723),
        "time_outs": _depth_match("games lost on time", "games", "ours_table.time_outs", 0),
        "mean_margin": _depth_match("mean margin against that table", "squares left", "ours_table.mean_margin", 1.65),
        "score_vs_iterative_deepening": _depth_match(
            "our net against iterative deepening on the same clock", "score", "ours_deepening.score"
        ),
        # The paper's net and recipe.
        "cnn_unbeaten_vs_fixed": _depth_match(
            "the published net unbeaten by a fixed table of as much computing", "fraction", "cnn_table.score"
        ),
        "cnn_score_vs_iterative_deepening": _depth_match(
            "the published net against iterative deepening on the same clock", "score", "cnn_deepening.score"
        ),
        # Of the paper's net, balanced as published, on the test split as it is.
        "accuracy": _depth("depths named right, the published net and recipe", "fraction", "models.smote.accuracy"),
        "macro_f1": _depth("macro F1, the published net and recipe", "F1", "models.smote.macro_f1"),
    },
    "reliability": {
        "kills": Figure("kill -9 of a stage, of DVC or of a flow at random moments", "kills"),
        "kills_same_bytes": Figure("of them: those whose run ended in the same bytes as an undisturbed one", "kills"),
        "hostile_records": Figure("hostile texts given to every reader", "texts"),
        "hostile_crashes": Figure("of them: crashes, hangs, files written elsewhere", "texts"),
        "dask_same_bytes": Figure("outputs of stages run on Dask with the same bytes", "fraction"),
        "ray_same_bytes": Figure("outputs of stages run on Ray with the same bytes", "fraction"),
    },
    "crawl": {
        "games_equal": Figure("valid games of the rehearsal that came out equal, turn by turn", "fraction"),
        "requests_per_new_game": Figure("requests for a game stored, of all that the rehearsal made", "requests"),
        "finished_games_asked_twice": Figure("finished games that were asked for twice", "games"),
        "least_gap_s": Figure("least time between two requests at a delay of 1 s", "seconds"),
        "stop_s": Figure("longest time from a signal to the end of a crawl", "seconds"),
    },
}
