"""Amazons-Net declares itself."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipeline_src.project.params import Items, Named, Params, Whole, at
from pipeline_src.project.systems import Boards, Claim, Counted, Figure, System, calibration_figures
from pipeline_src.selfplay.params import GateParams, GenerationParams, SelfPlayParams
from pipeline_src.systems.amazons_net.params import (
    AmazonsArchive,
    AmazonsBaselinesParams,
    AmazonsCrawlParams,
    AmazonsEvaluateParams,
    AmazonsMatchParams,
    AmazonsModelsParams,
    AmazonsParseParams,
    AmazonsRaysParams,
    AmazonsResidualParams,
    AmazonsSamplesParams,
    AmazonsTrainParams,
    AmazonsZeroEvaluate,
    AmazonsZeroGame,
    AmazonsZeroNet,
    AmazonsZeroTrain,
)

PRINTED: Mapping[str, Any] = {
    "amazons_archive.games": 25_000,
    "amazons_match.loss": "soft_argmax",
    "amazons_train.width": 1.0,
    "amazons_train.fewest_filters": 16,
    "amazons_train.dropout": 0.3,
    "amazons_train.mover_relative": False,
    "amazons_train.moved_first": False,
    "amazons_train.starting_weights": "he",
    "amazons_train.batch_norm": False,
    "amazons_train.shortcuts": False,
    "amazons_train.spatial_heads": False,
    "amazons_train.teachers_only": False,
    "amazons_train.augment": False,
    "amazons_train.value_weight": 1.0,
}
"""Values that the patent prints, by the keys of params.yaml, and the usual ones where it prints nothing but a method
needs one: He's starting weights, samples as they were recorded, and of the squared distance, which has no gradient as
printed, the reading with the expected coordinates."""
MOST_CHANGES = 2  # Number of departures up to which nets are still called as printed, but for those


def departures(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of `PRINTED` with other values in the tree of params.yaml, and these values."""
    return {key: at(params, key) for key, value in PRINTED.items() if at(params, key) != value}


def printed_words(params: Mapping[str, Any]) -> str:
    """Return ``as printed``, or ``as printed but for starting_weights mirrored``; empty for any other training."""
    changed = departures(params)
    if not changed:
        return "as printed"
    words = " and ".join(f"{key.rpartition('.')[2]} {value}" for key, value in changed.items())
    return f"as printed but for {words}" if len(changed) <= MOST_CHANGES else ""


REPORTS = "artifacts/reports/amazons"
CRAWLED = Counted(
    f"{REPORTS}/samples.json",
    "sources",
    {"engine": "engine games", "littlegolem": "LittleGolem", "file": "files"},
)


class AmazonsShown(Params):
    """Positions of a held-out game, and a whole game of a match."""

    plies: Items[Whole]
    """Numbers of turns played before each position."""
    match: str
    """Name in ``amazons_match.matches``."""


def _amazons(words: str, unit: str, file: str, key: str, stage: str, published: float | None = None) -> Figure:
    return Figure(words, unit, f"{REPORTS}/{file}", key, f"amazons_{stage}", published, CRAWLED)


def _nets(words: str, name: str, unit: str = "fraction") -> Figure:
    figure = _amazons(words, unit, "evaluate/{amazons_match.loss}.json", f"nets.{name}", "evaluate")
    return replace(figure, trained=printed_words)


def _residual(words: str, name: str, unit: str = "fraction") -> Figure:
    return _amazons(words, unit, "evaluate/residual.json", f"nets.{name}", "evaluate")


def _rays(words: str, name: str) -> Figure:
    return _amazons(f"net of rays: {words}", "fraction", "evaluate/rays.json", f"nets.{name}", "evaluate")


def _zero(words: str, match: str, opponent: str) -> Figure:
    return Figure(
        f"net of rays from nothing: {words}",
        "score",
        "artifacts/reports/amazons/zero/evaluate.json",
        f"{match}.score",
        "amazons_zero_evaluate",
        data="its own games",
        named={f"amazons_zero_evaluate.matches.{match}.b": opponent},
    )


def _score(words: str, match: str, opponent: str) -> Figure:
    figure = _amazons(words, "score", "match.json", f"{match}.score", "match")
    trained = printed_words if "Amazons-Net" in words else None
    return replace(figure, named={f"amazons_match.matches.{match}.b": opponent}, trained=trained)


SYSTEM = System(
    name="amazons_net",
    title="Amazons-Net",
    source="Patent CN 111330255 B",
    summary=(
        "Two convolutional nets predict the move and the arrow of a turn from recorded games. A residual net of ours "
        "is trained on the same samples."
    ),
    page="how-it-works/amazons-net.md",
    word="amazons",
    figures={
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
        **{f"residual_{name}": one for name, one in calibration_figures("amazons", "residual net", CRAWLED).items()},
        "rays_from_to_top1": _rays("top-1 accuracy, move (from, to)", "from_to_top1"),
        "rays_arrow_top1": _rays("top-1 accuracy, arrow given the move", "arrow_top1"),
        "rays_turn_top1": _rays("top-1 accuracy, whole turn", "turn_top1"),
        "rays_value_accuracy": _rays("value accuracy", "value_accuracy"),
        "zero_bare_vs_one_ply": _zero("score of its policy against the one-ply player", "bare", "one_ply"),
        "zero_vs_one_ply": _zero("score against the one-ply player, 400 simulations a turn", "one_ply", "one_ply"),
        "zero_vs_alphabeta": _zero(
            "score against alpha-beta, 10,000 nodes a move, 400 simulations", "alphabeta", "alphabeta:nodes=10000"
        ),
        "puct_vs_alphabeta": Figure(
            "PUCT with the packaged net of rays: score against alpha-beta, 100 ms of CPU time a move each", "score"
        ),
    },
    claim=Claim(
        "two nets that find a turn and its win rate from 25,000 games; neither accuracy nor strength is printed",
        "residual_turn_top1",
        "turn_top1",
        "our residual net, held against the published nets on the same games; before ply 50 a player that looks one ply"
        " ahead finds more",
        bar_words="published nets with our changes",
        sample="turns",
        beside=(("as printed", "turn_top1", "as_printed"),),
    ),
    metrics=("from_to_top1", "score_vs_alphabeta", "residual_turn_top1"),
    matches={
        "puct_100": "PUCT with the packaged net of rays against alpha-beta, 100 ms of CPU time a move each",
        "puct_1000": "the same with a second each",
        "puct_8x8": "100 ms each on 8x8",
        "puct_6x6": "100 ms each on 6x6",
    },
    params={
        "amazons_archive": AmazonsArchive,
        "amazons_crawl": AmazonsCrawlParams,
        "amazons_parse": AmazonsParseParams,
        "amazons_samples": AmazonsSamplesParams,
        "amazons_models": AmazonsModelsParams,
        "amazons_train": AmazonsTrainParams,
        "amazons_residual": AmazonsResidualParams,
        "amazons_rays": AmazonsRaysParams,
        "amazons_baselines": AmazonsBaselinesParams,
        "amazons_evaluate": AmazonsEvaluateParams,
        "amazons_match": AmazonsMatchParams,
        "amazons_zero_game": AmazonsZeroGame,
        "amazons_zero_net": AmazonsZeroNet,
        "amazons_zero_self_play": SelfPlayParams,
        "amazons_zero_train": AmazonsZeroTrain,
        "amazons_zero_gate": GateParams,
        "amazons_generations": Named[GenerationParams],
        "amazons_zero_evaluate": AmazonsZeroEvaluate,
    },
    pictures=("amazons-phases",),
    boards=Boards(AmazonsShown),
)
