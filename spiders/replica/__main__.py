"""``python -m spiders.replica --archive FILE_OR_FOLDER --port N``: serve an archive as the site would."""

import argparse
import os
import sys
import threading
from pathlib import Path

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.project.params import build
from pipeline_src.records.crawl_params import QuirkParams
from spiders.replica.archive import open_archive
from spiders.replica.site import API_PREFIX, NO_QUIRKS, Moods, Routes, Server


def main() -> None:
    """Serve until killed.

    Raises:
        ZugwerkError: no archive there, or the port is taken.
    """
    args = _parser().parse_args()
    given = {name: getattr(args, name) for name in QuirkParams.model_fields}
    quirks = build(QuirkParams, given, "quirks", "command line")
    site = open_archive(args.archive, args.gtid, quirks, args.seed)
    answer = Moods(Routes(site, quirks.double_json, args.seed), quirks, args.seed, args.broken)
    try:
        server = Server((args.host, args.port), answer)
    except OSError as error:
        where = f"{args.host}:{args.port}"
        raise ZugwerkError(f"{where}: cannot serve there ({error.strerror}); choose another port") from None
    sys.stdout.write(f"{server.url} serves {len(site.games)} games as {site.gtid}; API at {server.url}{API_PREFIX}\n")
    sys.stdout.flush()
    if args.until_stdin_closes:
        threading.Thread(target=_end_with_stdin, daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


def _end_with_stdin() -> None:
    """End the process when stdin is closed, in whatever way its other end went."""
    sys.stdin.buffer.read()
    os._exit(0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m spiders.replica", description="Serve an archive as the site does.")
    parser.add_argument("--archive", type=Path, required=True, help="Parquet file of GameRecords, or folder of records")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8765, help="0 picks a free one; the first line of output tells")
    parser.add_argument("--gtid", default="", help="game type to serve it as; default: that of the archive")
    parser.add_argument("--seed", type=int, default=0, help="picks the games, players and pages that have a quirk")
    parser.add_argument("--broken", action="append", default=[], metavar="PREFIX", help="paths that always answer 500")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end when stdin does")
    quirks = parser.add_argument_group("quirks", "fractions from 0 to 1; the first four and names need a Parquet file")
    for name, value in NO_QUIRKS:
        quirks.add_argument(f"--{name.replace('_', '-')}", type=float, default=value)
    return parser


if __name__ == "__main__":
    run_main(main)
