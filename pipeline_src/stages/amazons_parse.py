"""Stage amazons_parse: convert crawled pages to an archive of games and a file of rejects with reasons.

Reads ``artifacts/raw/amazons/pages/``; writes ``games.parquet`` and ``rejects.parquet`` under
``artifacts/records/amazons/`` and the counts ``artifacts/reports/amazons/parse.json``.
"""

from pathlib import Path

from tqdm import tqdm

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json
from pipeline_src.project.params import load
from pipeline_src.records.littlegolem.games import Kept, Usable, read_game, source_of
from pipeline_src.records.littlegolem.report import count_games
from pipeline_src.records.parquet import write_records
from pipeline_src.records.raw import read_raw
from pipeline_src.records.rejects import Reject, write_rejects
from pipeline_src.systems.amazons_net.params import AmazonsParseParams

PAGES = Path("artifacts/raw/amazons/pages")
GAMES = Path("artifacts/records/amazons/games.parquet")
REJECTS = Path("artifacts/records/amazons/rejects.parquet")
REPORT = Path("artifacts/reports/amazons/parse.json")


def main() -> None:
    """Parse all that was crawled.

    Raises:
        ZugwerkError: bad params, a damaged shard, or not one usable game.
    """
    params = load(AmazonsParseParams, "amazons_parse")
    usable = Usable(params.min_plies, params.variants)
    pages = tqdm(read_raw(PAGES), desc="parse", unit=" games", disable=None)
    results = [(source_of(raw), read_game(raw, usable)) for raw in pages]
    counts = count_games(results)
    write_rejects((result for _, result in results if isinstance(result, Reject)), REJECTS)
    write_json(REPORT, counts)
    if not counts["games"]:
        reasons = ", ".join(f"{n} {reason}" for reason, n in counts["rejects_by_reason"].items() if n)
        raise ZugwerkError(f"{PAGES}: not one usable game among {counts['rows']} ({reasons}); see {REJECTS}")
    write_records((result.record for _, result in results if isinstance(result, Kept)), GAMES)


if __name__ == "__main__":
    run_main(main)
