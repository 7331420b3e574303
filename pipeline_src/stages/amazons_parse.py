"""Stage amazons_parse: convert crawled pages to an archive of games and a file of rejects with reasons.

Reads ``artifacts/raw/amazons/pages/``; writes ``games.parquet`` and ``rejects.parquet`` under
``artifacts/records/amazons/`` and the counts ``artifacts/reports/amazons/parse.json``.
"""

from pathlib import Path

from tqdm import tqdm

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json
from pipeline_src.project.params import load
from pipeline_src.records.littlegolem.games import Usable, read_game, source_of
from pipeline_src.records.littlegolem.report import GameCounts
from pipeline_src.records.parquet import open_records
from pipeline_src.records.raw import read_raw
from pipeline_src.records.rejects import Reject, open_rejects
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
    usable, counts = Usable(params.min_plies, params.variants), GameCounts()
    with open_records(GAMES) as games:
        with open_rejects(REJECTS) as rejects:
            for raw in tqdm(read_raw(PAGES), desc="parse", unit=" games", disable=None):
                result = read_game(raw, usable)
                counts.add(source_of(raw), result)
                if isinstance(result, Reject):
                    rejects.add(result)
                else:
                    games.add(result.record)
        report = counts.report()
        write_json(REPORT, report)
        if not report["games"]:
            reasons = ", ".join(f"{n} {reason}" for reason, n in report["rejects_by_reason"].items() if n)
            raise ZugwerkError(f"{PAGES}: not one usable game among {report['rows']} ({reasons}); see {REJECTS}")


if __name__ == "__main__":
    run_main(main)
