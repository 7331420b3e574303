"""The joseki library declares itself."""

from pipeline_src.project.systems import Boards, Claim, Counted, Figure, PlyShown, System
from pipeline_src.systems.joseki.params import (
    JosekiBuildParams,
    JosekiCrawlParams,
    JosekiEvaluateParams,
    JosekiRecordsParams,
)

REPORTS = "artifacts/reports/joseki"
GAMES = Counted(
    f"{REPORTS}/build.json",
    "sources",
    {"engine": "made games, from textbook joseki", "littlegolem": "LittleGolem", "file": "files"},
)


def _library(words: str, unit: str, key: str, published: float | None = None) -> Figure:
    return Figure(words, unit, f"{REPORTS}/build.json", key, "joseki_build", published, GAMES)


def _recommender(words: str, key: str) -> Figure:
    return Figure(words, "fraction", f"{REPORTS}/evaluate.json", key, "joseki_evaluate", data=GAMES)


def _time(words: str, key: str, published: float | None = None) -> Figure:
    file = f"{REPORTS}/evaluate.timings.json"
    return Figure(words, "microseconds", "", key, "joseki_evaluate", published, GAMES, times=file)


SYSTEM = System(
    name="joseki",
    title="Joseki library",
    source="Yue, Li, Qiu 2007",
    summary=(
        "Corner sequences of Go games as a finite-state machine, indexed by a pattern code that is invariant under "
        "all 16 symmetries. It recommends the next move."
    ),
    page="how-it-works/joseki.md",
    word="joseki",
    figures={
        "games": _library("games in the library", "games", "games", 507),
        "patterns": _library("corner patterns", "patterns", "patterns", 27_686),
        "encodings": _library("encodings (a pattern after a move)", "encodings", "encodings", 42_691),
        "clashes": _library("hash collisions, the paper's code", "encodings", "clashes", 43),
        "clashes_ours": _library("hash collisions, our 64-bit code", "encodings", "clashes_ours"),
        "clashes_unresolved": _library("hash collisions, the exact key", "encodings", "clashes_unresolved"),
        "encode_us": _time("time to encode a pattern, the paper's code", "encode_us", 2_690),
        "canonical_us": _time("time to encode a pattern, the exact key", "canonical_us"),
        "lookup_us": _time("time to look a pattern up, the exact key", "lookup_us"),
        "lookup_paper_us": _time("time to look a pattern up, the paper's method", "lookup_paper_us", 22_000),
        "recommend_top1": _recommender("recommender: top-1 accuracy on held-out moves", "recommend_top1"),
        "recommend_top3": _recommender("recommender: top-3 accuracy on held-out moves", "recommend_top3"),
        "baseline_top3": _recommender("baseline (most frequent moves by move number): top-3 accuracy", "baseline_top3"),
        "hit_rate": _recommender("hit rate: held-out patterns found in the library", "hit_rate"),
    },
    claim=Claim(
        "27,686 corner patterns of 507 games; 43 of 42,691 encodings clash in a 64-bit code",
        "clashes_ours",
        43,
        "64 bits against 64 bits, on 507 other games; its claim of invariance under translation is dropped",
        less=True,
        beside=(
            ("of encodings", "encodings", ""),
            ("the paper's code as read", "clashes", ""),
        ),
    ),
    metrics=("patterns", "recommend_top1"),
    params={
        "joseki_crawl": JosekiCrawlParams,
        "joseki_records": JosekiRecordsParams,
        "joseki_build": JosekiBuildParams,
        "joseki_evaluate": JosekiEvaluateParams,
    },
    pictures=("joseki-accuracy-measured",),
    boards=Boards(PlyShown, "A position of a game of the library."),
)
