"""A folder of record files, saved from the site, as games."""

import re
from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.littlegolem.text import parse_text, split_file
from pipeline_src.records.rejects import RecordError
from spiders.replica.server import Answer
from spiders.replica.site import RECORD_TYPE, SiteGame, Variant, always, plid_of

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
        answer = Answer(200, RECORD_TYPE, body)
        try:
            header, nodes, _ = parse_text(answer.body)
        except RecordError:
            header, nodes = {}, ()
        players: list[int] = []
        for key, unknown in (("PB", "first"), ("PW", "second")):
            name = header.get(key) or unknown
            # Two seats of one name are two players here.
            plid = plid_of(name if not players or name != names[players[0]] else f"{name} 2")
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
                answer=always(answer),
            )
        )
    return games, names


def _is_record(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"(;")
