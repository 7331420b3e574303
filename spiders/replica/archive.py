"""From an archive on disk to a `Site`: a Parquet file of GameRecords, or a folder of record files."""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.crawl_params import QuirkParams
from pipeline_src.records.littlegolem.text import parse_text, split_file
from pipeline_src.records.record import GameRecord, RecordError, read_records
from spiders.replica import site
from spiders.replica.site import Answer, Site, SiteGame, Variant

SUFFIXES = (".txt", ".sgf", ".hsgf", ".tsgf")
VARIANT = Variant("DEFAULT", "")  # A record does not state its variant
_GID = re.compile(r"(?:game)?(\d{1,17})(?!\d)")


def record_files(folder: Path) -> dict[int, bytes]:
    """The records of a folder by gid.

    A record file ends in .txt, .sgf, .hsgf or .tsgf and begins with ``(;``. The gid of its record is the number its
    name begins with, perhaps after ``game``. Records without one, and those of a file that has several, are numbered by
    name and place, from 1 on, around the numbers that are taken.

    Raises:
        ZugwerkError: no such file, or two of one gid.
    """
    numbered: dict[int, bytes] = {}
    names: dict[int, str] = {}
    others: list[bytes] = []
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in SUFFIXES or not path.is_file() or not _is_record(path):
            continue
        body = path.read_bytes()
        texts, found = split_file(body), _GID.match(path.name)
        if not found or len(texts) > 1:
            others += texts if len(texts) > 1 else [body]
        elif int(found[1]) in numbered:
            raise ZugwerkError(f"{path}: game {found[1]} twice, the other is {names[int(found[1])]}")
        else:
            numbered[int(found[1])], names[int(found[1])] = body, path.name
    gid = 1
    for body in others:
        while gid in numbered:
            gid += 1
        numbered[gid] = body
    if not numbered:
        raise ZugwerkError(f"{folder}: no records there: no {', '.join(SUFFIXES)} file that begins with '(;'")
    return numbered


def read_folder(folder: Path) -> tuple[list[SiteGame], dict[int, str]]:
    """The games of a folder, and names by plid.

    Who won is not known: lists show no result, and the records have to show it.

    Raises:
        ZugwerkError: as `record_files`.
    """
    games: list[SiteGame] = []
    names: dict[int, str] = {}
    for gid, body in record_files(folder).items():
        answer = Answer(200, site.RECORD_TYPE, body)
        try:
            header, nodes, _ = parse_text(answer.body)
        except RecordError:
            header, nodes = {}, ()
        players: list[int] = []
        for key, unknown in (("PB", "first"), ("PW", "second")):
            name = header.get(key) or unknown
            # Two seats of one name are two players here.
            plid = site.plid_of(name if not players or name != names[players[0]] else f"{name} 2")
            names[plid] = name
            players.append(plid)
        games.append(
            SiteGame(
                gid=gid,
                variant=VARIANT,
                players=(players[0], players[1]),
                points=None,
                running=False,
                plies=len(nodes),
                answer=site.always(answer),
            )
        )
    return games, names


def _is_record(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"(;")


GTIDS = {"amazons": "amzn", "gomoku": "gmk", "go": "go19"}
VARIANTS = {"standard": Variant("DEFAULT", "Size 10"), "cross": Variant("CROSS", "Cross")}
POINTS = {"first": (2, 0), "second": (0, 2), "draw": (1, 1), None: None}
ADDED_GIDS = 100_000
"""Games added by quirks get gids from the next multiple of this, so that an archive may grow below them."""


def open_archive(path: Path, gtid: str, quirks: QuirkParams, seed: int) -> Site:
    """The site of a Parquet file of GameRecords, or of a folder of record files, which is served as it is.

    Quirks of games and names are applied here, to engine games only. An empty ``gtid`` is that of the archive's game.

    Raises:
        ZugwerkError: no games there, games of several kinds or of one that has no dialect writer, or damaged.
    """
    if path.is_dir():
        games, names = read_folder(path)
        return Site(gtid or GTIDS["amazons"], games, names)
    records = read_records(path)
    kinds = sorted({record.game for record in records})
    if len(kinds) != 1:
        raise ZugwerkError(f"{path}: expected games of one kind, found {', '.join(kinds) or 'no games'}")
    records = _with_names(_with_players(records), quirks, seed)
    names = {record.first_plid: record.first_name for record in records}
    names |= {record.second_plid: record.second_name for record in records}
    decided = (record.gid for record in records if record.source == "engine" and record.winner)
    late = set(site.choose(decided, quirks.timeouts, seed, "timeouts"))
    games = [_timed_out(record) if record.gid in late else _game(record) for record in records]
    games[0].answer()  # fails here, not at the first request
    return Site(gtid or GTIDS.get(kinds[0], kinds[0]), [*games, *_added(records, quirks, seed)], names)


def _game(record: GameRecord, running: bool = False) -> SiteGame:
    return SiteGame(
        gid=record.gid,
        variant=VARIANTS.get(record.variant, Variant(record.variant.upper() or "DEFAULT", record.variant)),
        players=(record.first_plid, record.second_plid),
        points=POINTS[record.winner],
        running=running,
        plies=len(record.actions) + record.resigned,
        answer=partial(_write, record),
    )


def _write(record: GameRecord) -> Answer:
    from pipeline_src.records.littlegolem.amazons import write_record

    return Answer(200, site.RECORD_TYPE, write_record(record))


def _with_players(records: Iterable[GameRecord]) -> list[GameRecord]:
    """Records whose players have a name and a number each; on a site there are no games of a player against himself."""
    known = []
    for record in records:
        first, second = record.first_name or "first", record.second_name or "second"
        plids = record.first_plid or site.plid_of(first), record.second_plid or site.plid_of(second)
        if plids[0] == plids[1]:
            second = f"{second} 2"
            plids = plids[0], site.plid_of(second)
        known.append(replace(record, first_name=first, second_name=second, first_plid=plids[0], second_plid=plids[1]))
    return known


def _with_names(records: list[GameRecord], quirks: QuirkParams, seed: int) -> list[GameRecord]:
    engines = [record for record in records if record.source == "engine"]
    plids = {plid for record in engines for plid in (record.first_plid, record.second_plid)}
    forms = {
        plid: site.NAMES[i % len(site.NAMES)] for i, plid in enumerate(site.choose(plids, quirks.names, seed, "names"))
    }
    return [
        replace(
            record,
            first_name=forms.get(record.first_plid, "{}").format(record.first_name),
            second_name=forms.get(record.second_plid, "{}").format(record.second_name),
        )
        for record in records
    ]


def _timed_out(record: GameRecord) -> SiteGame:
    """The game as if its loser had lost on time, instead of resigning, or at his last turn.

    Its record stops with the loser to move.
    """
    played = record.actions if record.resigned else record.actions[:-2]
    return _game(replace(record, actions=played, resigned=False))


def _added(records: list[GameRecord], quirks: QuirkParams, seed: int) -> list[SiteGame]:
    """The games that quirks add: each is a copy of one of the archive's with another gid and record."""
    by_gid = {record.gid: record for record in records if record.source == "engine"}
    gid = (max(record.gid for record in records) // ADDED_GIDS + 1) * ADDED_GIDS
    added: list[SiteGame] = []
    for quirk in ("in_progress", "missing", "foreign"):
        for i, model in enumerate(site.choose(by_gid, getattr(quirks, quirk), seed, quirk)):
            record = replace(by_gid[model], gid=gid + len(added))
            if quirk == "in_progress":
                half = record.actions[: len(record.actions) // 2]
                added.append(_game(replace(record, actions=half, resigned=False, winner=None), running=True))
            elif quirk == "missing":
                added.append(replace(_game(record), answer=site.always(site.MISSING[i % len(site.MISSING)])))
            else:
                text = site.FOREIGN[i % len(site.FOREIGN)].format(record.first_name, record.second_name, record.gid)
                answer = Answer(200, site.RECORD_TYPE, text.encode("latin-1", errors="replace"))
                added.append(replace(_game(record), answer=site.always(answer)))
    return added
