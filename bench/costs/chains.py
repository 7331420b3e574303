"""The measured stages with their units of work, in chains that run one after the other at three sizes.

Params are those of the profile paper, so nets, boards and players are the published ones; only counts are small. One
core does all work, with one worker and one thread. The cost of a unit hardly depends on the number of units, which the
third size checks; the factors on which it depends are part of the unit, such as simulations, of which a game has few
here. A net always evaluates a whole chunk of positions, so chunks are as large as the number of positions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Params = dict[str, Any]
Count = Callable[[Params], float]


@dataclass(frozen=True)
class Step:
    """A command of a stage, with its units of work."""

    stage: str
    unit: str
    count: Count
    """Number of units for params of the profile paper and, without ``measured``, for those of a run."""
    words: tuple[str, ...] = ()
    part: str = ""
    """Part of a stage that times its parts. Steps with the same command follow each other; the command runs once."""
    outputs: tuple[str, ...] = ()
    """Outputs below artifacts, for the bytes on disk."""
    timings: str = ""
    """File with the times of the parts, below artifacts."""
    part_of: str = ""
    """Key of the parts in that file."""
    measured: Count | None = None
    """Number of units of a run, if its time covers only a part of the run."""

    @property
    def name(self) -> str:
        """Return the name in tables."""
        item = self.words[-1] if self.words and self.words[0] in ("--model", "--size") else ""
        return self.stage + (f"@{item}" if item else "") + (f", {self.part.replace('_', '-')}" if self.part else "")


@dataclass(frozen=True)
class Chain:
    """Stages that follow each other, with the params of each size."""

    name: str
    sizes: tuple[int, int, int]
    params: Callable[[int], Params]
    """Differences from the profile paper by size."""
    steps: tuple[Step, ...]
    before: tuple[tuple[str, ...], ...] = ()
    """Stages with their arguments that run before, without being measured."""


def _amazons_records(size: int) -> Params:
    return {"amazons_archive": {"games": size}, "amazons_baselines": {"fit_turns": size}}


def _amazons_nets(size: int) -> Params:
    train = {"batch": 128, "epochs": 1}
    return {"amazons_archive": {"games": size}, "amazons_train": train, "amazons_residual": train}


def _amazons_match(size: int) -> Params:
    few = {key: {"pairs": 1} for key in ("random", "one_ply", "alphabeta", "residual_nets", "residual_alphabeta")}
    return _amazons_nets(10) | {"amazons_match": {"matches": few | {"residual_one_ply": {"pairs": size}}}}


def _games(params: Params) -> float:
    return float(params["amazons_archive"]["games"])


def _epochs(params: Params) -> float:
    return _games(params) * float(params["amazons_train"]["epochs"])


def _pairs(section: Params) -> float:
    return float(sum(match["pairs"] for match in section["matches"].values()))


DATA = (("amazons_archive",), ("amazons_crawl",), ("amazons_parse",), ("amazons_samples",))

AMAZONS_RECORDS = Chain(
    "amazons records",
    (250, 500, 1000),
    _amazons_records,
    (
        Step("amazons_archive", "game", _games, outputs=("raw/amazons/archive.parquet",)),
        Step("amazons_crawl", "game", _games, outputs=("raw/amazons/pages",)),
        Step("amazons_parse", "game", _games, outputs=("records/amazons/games.parquet",)),
        Step("amazons_samples", "game", _games, outputs=("samples/amazons",)),
        Step("amazons_baselines", "game", _games),
    ),
)

AMAZONS_NETS = Chain(
    "amazons nets",
    (10, 20, 40),
    _amazons_nets,
    (
        Step("amazons_train", "game, an epoch", _epochs, ("--model", "soft_argmax")),
        Step("amazons_train", "game, an epoch", _epochs, ("--model", "expected_distance")),
        Step("amazons_train", "game, an epoch", _epochs, ("--model", "cross_entropy")),
        Step("amazons_train", "game, an epoch", _epochs, ("--model", "residual")),
        Step("amazons_evaluate", "game", _games, ("--model", "cross_entropy")),
        Step("amazons_evaluate", "game", _games, ("--model", "residual")),
    ),
    before=DATA,
)

AMAZONS_MATCH = Chain(
    "amazons match",
    (16, 32, 48),  # the number of games in lock step, and multiples
    _amazons_match,
    (Step("amazons_match", "pair", lambda p: _pairs(p["amazons_match"])),),
    before=(*DATA, ("amazons_train", "--model", "cross_entropy"), ("amazons_train", "--model", "residual")),
)


def _cycle(
    system: str, generations: Count, stage: str, words: tuple[str, ...], timings: str, part_of: str
) -> tuple[Step, ...]:
    """Return the steps of self-play and training.

    The second generation is measured, since the first has no net. The published size has all generations and their
    gates, whose games cost as much as those of self-play.
    """

    def played(params: Params, *sections: str) -> float:
        own = [params[f"{system}_{section}"] for section in sections]
        return float(sum(one["games"] * one["simulations"] for one in own))

    def trained(params: Params) -> float:
        return float(params[f"{system}_self_play"]["games"] * params[f"{system}_train"]["passes"])

    def step(part: str, unit: str, whole: Count, measured: Count) -> Step:
        return Step(
            stage,
            unit,
            lambda params: generations(params) * whole(params),
            words,
            part,
            timings=timings,
            part_of=part_of,
            measured=measured,
        )

    return (
        step(
            "self_play",
            "game, a simulation a move",
            lambda params: played(params, "self_play", "gate"),
            lambda params: played(params, "self_play"),
        ),
        step("train", "game, a pass", trained, trained),
    )


def _gomoku(size: int) -> Params:
    opponents = {name: {"pairs": size // 2} for name in ("mcts1000", "minimax", "alphabeta2", "alphabeta4")}
    return {
        "gomoku_self_play": {"games": size, "simulations": 2, "leaves": 1, "chunk": size},
        "gomoku_train": {"passes": 0.5, "batch": 16},
        "gomoku_gate": {"games": 2, "simulations": 1, "always": True},
        "gomoku_generations": {"02": {"before": "01"}},
        "gomoku_evaluate": {
            "simulations": 2,
            "options": f"chunk={size}",
            "opponents": opponents,
            "every": 2,
            "anchor_pairs": 1,
            "table2_games": 2,
            "table3_games": 2,
            "best_of": 1,
            "replays": 0,
        },
    }


def _gomoku_generations(params: Params) -> float:
    return 1.0 + len(params["gomoku_generations"])


def _gomoku_evaluated(params: Params) -> float:
    """Return games times simulations: headline matches, anchor, tables 2 (two models), 3 and 4."""
    evaluate = params["gomoku_evaluate"]
    models = len(range(0, int(_gomoku_generations(params)), evaluate["every"]))
    models += (_gomoku_generations(params) - 1) % evaluate["every"] > 0  # the last model
    against = len(evaluate["tables_against"])
    games = sum(2 * opponent["pairs"] for opponent in evaluate["opponents"].values())
    games += models * (2 * evaluate["anchor_pairs"] + against * (evaluate["table3_games"] + evaluate["best_of"]))
    games += models * (models - 1) * evaluate["table2_games"]
    return float(games * evaluate["simulations"])


GOMOKU = Chain(
    "gomoku",
    (2, 4, 8),
    _gomoku,
    (
        *_cycle(
            "gomoku",
            _gomoku_generations,
            "gomoku_generation",
            ("--number", "2"),
            "reports/gomoku/generations/02.timings.json",
            "seconds",
        ),
        Step("gomoku_evaluate", "game, a simulation a move", _gomoku_evaluated),
    ),
    before=(("gomoku_generation", "--number", "1"),),
)


def _grown(size: int) -> Chain:
    """Return the chain of one of the growing boards, each measured as a first board."""

    def generations(params: Params) -> float:
        first, larger = params["growing_first"], params["growing_larger"]
        return float(first["generations"] if first["size"] == size else larger[str(size)]["generations"])

    def params(count: int) -> Params:
        small = {"games": count, "simulations": 40, "leaves": 1, "chunk": count}
        return {
            "growing_first": {"size": size, "generations": 2},
            "growing_larger": {},
            "growing_self_play": small,
            "growing_train": {"passes": 4.0, "batch": 64},
            "growing_gate": {"games": 2, "simulations": 40, "always": True},
        }

    timings = f"reports/growing/boards/{size}.timings.json"
    return Chain(
        f"growing {size}x{size}",
        (20, 40, 80),
        params,
        _cycle("growing", generations, "growing_board", ("--size", str(size)), timings, "02"),
    )


def _depth(size: int) -> Params:
    training = {"steps": size, "batch": 4096, "log_steps": size, "warmup": 0.0}
    names = ("cnn_table", "cnn_deepening", "ours_table", "ours_deepening", "ours_thrifty", "cnn_depth3", "cnn_depth4")
    return {
        "depth_label": {"games": size},
        "depth_train": {"training": training, "balancing": {"k_neighbors": 1, "few": "leave"}},
        "depth_match": {
            "pilot_pairs": 1,
            "matches": {name: {"pairs": size // 20} for name in (*names, "depth4_deepening")},
        },
    }


def _labelled(params: Params) -> float:
    return float(params["depth_label"]["games"])


def _shown(params: Params) -> float:
    training = params["depth_train"]["training"]
    return float(training["steps"] * training["batch"])


MODELS = ("smote", "oversample", "augment", "class_weights", "none", "ours", "ours_needed")

DEPTH = Chain(
    "depth",
    (20, 40, 80),
    _depth,
    (
        Step("depth_label", "game", _labelled, outputs=("samples/depth",)),
        *(Step("depth_train", "position shown", _shown, ("--model", name)) for name in MODELS),
        Step("depth_evaluate", "game", _labelled),
        Step("depth_match", "pair", lambda p: _pairs(p["depth_match"])),
    ),
)


def _joseki_games(params: Params) -> float:
    return float(params["joseki_records"]["made"]["games"])


JOSEKI = Chain(
    "joseki",
    (250, 500, 1000),
    lambda size: {"joseki_records": {"made": {"games": size}}},
    (
        Step("joseki_records", "game", _joseki_games, outputs=("records/joseki",)),
        Step("joseki_build", "game", _joseki_games, outputs=("models/joseki",)),
        Step("joseki_evaluate", "game", _joseki_games),
    ),
)

CHAINS = (
    AMAZONS_RECORDS,
    AMAZONS_NETS,
    AMAZONS_MATCH,
    GOMOKU,
    *(_grown(size) for size in (6, 9, 11, 15)),
    DEPTH,
    JOSEKI,
)
