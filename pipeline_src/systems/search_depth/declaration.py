"""The search depth chosen by a net declares itself."""

from pipeline_src.project.params import Params, Whole
from pipeline_src.project.systems import Boards, Claim, Figure, System
from pipeline_src.systems.search_depth.params import (
    DepthEvaluateParams,
    DepthGame,
    DepthLabelParams,
    DepthMatchParams,
    DepthSplitParams,
    DepthTrainParams,
)

REPORTS = "artifacts/reports/depth"
ENGINE_GAMES = "engine games"


class DepthShown(Params):
    """A position for which two nets choose the search depth."""

    ply: Whole
    """Number of turns played before the position."""
    published: str
    """Name in ``depth_train.models`` of the paper's net."""
    ours: str
    """Name in ``depth_train.models`` of our own net."""


def _depth(words: str, unit: str, key: str, published: float | None = None, stage: str = "evaluate") -> Figure:
    return Figure(words, unit, f"{REPORTS}/{stage}.json", key, f"depth_{stage}", published, ENGINE_GAMES)


def _match(net: str, words: str, key: str, unit: str = "fraction") -> Figure:
    return _depth(f"{net} net: {words}", unit, key, stage="match")


UNBEATEN = "unbeaten rate against a fixed table of equal compute"
DEEPENING = "score against iterative deepening, same clock"
HAND = "unbeaten rate against three tables written by hand"
FIXED = "unbeaten rate against always three plies"


SYSTEM = System(
    name="search_depth",
    title="Search depth chosen by a net",
    source="Li, Gao 2022",
    summary=(
        "A small net reads the position and chooses how deep the engine searches, so that the clock is spent where "
        "depth matters. The clock counts nodes, so no figure depends on the machine."
    ),
    page="how-it-works/search-depth.md",
    word="depth",
    figures={
        "positions": _depth("labelled positions", "positions", "positions", 81_742_572),
        # No game of ours is drawn, so both are the same share. The published rates are those of the published net.
        "unbeaten_vs_fixed": _match("our", UNBEATEN, "ours_table.score"),
        "wins_vs_fixed": _match("our", "win rate against that table", "ours_table.score"),
        "time_outs": _match("our", "games lost on time", "ours_table.time_outs", "games"),
        "mean_margin": _match("our", "mean margin against that table", "ours_table.mean_margin", "squares left"),
        "score_vs_iterative_deepening": _match("our", DEEPENING, "ours_deepening.score", "score"),
        # The paper's net and recipe.
        "cnn_unbeaten_vs_fixed": _match("published", UNBEATEN, "cnn_table.score"),
        "cnn_score_vs_iterative_deepening": _match("published", DEEPENING, "cnn_deepening.score", "score"),
        "unbeaten_vs_hand_table": Figure(f"our net: {HAND}", "fraction"),
        "cnn_unbeaten_vs_hand_table": Figure(f"published net: {HAND}", "fraction"),
        "cnn_unbeaten_vs_depth3": _depth(f"published net: {FIXED}", "fraction", "cnn_depth3.score", 0.734, "match"),
        "cnn_margin_vs_depth3": _depth(
            "published net: mean margin against always three plies",
            "squares left",
            "cnn_depth3.mean_margin",
            1.65,
            "match",
        ),
        # Of the paper's net, balanced as published, on the test split as it is.
        "accuracy": _depth("published net and recipe: accuracy of the depth", "fraction", "models.smote.accuracy"),
        "macro_f1": _depth("published net and recipe: macro F1 of the depth", "F1", "models.smote.macro_f1"),
    },
    claim=Claim(
        "unbeaten in 73.4 % of 2,000 games against a fixed number of layers; mean margin 1.65, none lost on time",
        "cnn_unbeaten_vs_depth3",
        0.734,
        "against always three plies; at equal compute ahead of four, level with a fitted table; the printed number of"
        " layers is not known",
        outcomes=("reproduced", "reproduced"),
        margin=0.03,
        beside=(("margin", "cnn_margin_vs_depth3", ""),),
    ),
    metrics=("unbeaten_vs_fixed", "macro_f1"),
    matches={
        "ours_table": "our net against a fixed table of equal compute",
        "ours_deepening": "our net against iterative deepening on the same clock",
        "lean_depth4": "our net with a smaller share of its clock against always four plies",
        "cnn_table": "published net against a fixed table of equal compute",
        "cnn_deepening": "published net against iterative deepening on the same clock",
        "middle_small": "a table against one of half the compute",
        "large_middle": "the same, with twice the compute on both sides",
        "hand_ours_halves": "our net against a table by hand, 2000/1000/500/250 turns",
        "hand_ours_steps": "our net against a table by hand, 1200/900/600/300 turns",
        "hand_ours_thirds": "our net against a table by hand, 1500/500/170/60 turns",
        "hand_cnn_halves": "published net against a table by hand, 1000/500/250/125 turns",
        "hand_cnn_steps": "published net against a table by hand, 600/450/300/150 turns",
        "hand_cnn_thirds": "published net against a table by hand, 750/250/85/30 turns",
        "cnn_copied": "published net against one from rows balanced by copies",
        "cnn_unbalanced": "published net against one from rows as they came",
        "whole_depth3": "published net, every search a ply deeper, against always three plies",
        "whole_depth4": "the same against always four plies",
        "whole_deepening": "the same against iterative deepening on the same clock",
        "ours_early": "our net against deepening that begins no iteration that cannot end (EARLY)",
        "ours_close": "our net against EARLY with twice the share where the best two turns are near (CLOSE)",
    },
    params={
        "depth_game": DepthGame,
        "depth_label": DepthLabelParams,
        "depth_split": DepthSplitParams,
        "depth_train": DepthTrainParams,
        "depth_evaluate": DepthEvaluateParams,
        "depth_match": DepthMatchParams,
    },
    pictures=("depth-matches", "depth-curve"),
    boards=Boards(DepthShown),
)
