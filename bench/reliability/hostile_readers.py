"""All readers of external input, each as a function of bytes that has to answer or to refuse."""

import io
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from bench.reliability import hostile_texts as texts
from pipeline_src.games.game import get_game
from pipeline_src.players.gomocup import Session as GomocupSession
from pipeline_src.players.session import converse
from pipeline_src.players.uci import Session as UciSession
from pipeline_src.records.go_games import parse_sgf, read_go
from pipeline_src.records.littlegolem.amazons import Kept, Usable, read_game
from pipeline_src.records.psq import parse_psq
from pipeline_src.records.raw import RawGame, Seat
from pipeline_src.records.record import GameRecord, Reject
from pipeline_src.records.sgf import SgfGame
from pipeline_src.records.sgf_games import parse_games
from spiders.pages import check_record, games_of, read_api_games, read_game_list, read_players

Found = list[GameRecord | Reject | RawGame]
USABLE = Usable(1, ("standard", "cross"))
_DEFECT = re.compile(r"(?:info string|ERROR) (?!Zugwerk)[A-Z]\w*(?:Error|Exception|Warning|Interrupt)\b:?")
"""Message of an engine about an unexpected exception."""


class Reader(NamedTuple):
    """A reader with a valid text for it."""

    name: str
    good: str
    read: Callable[[bytes], Found]
    share: int  # Share of all hostile texts, relative to the other readers


class DefectError(Exception):
    """An engine answered hostile lines with the text of an exception."""


def _raw(body: bytes) -> RawGame:
    return RawGame(7, "/servlet/sgf/7/game7.txt", 200, body)


def _said(body: bytes) -> Found:
    """Read a valid record with hostile entries in the site's lists."""
    first, second, variant = [*body.decode("utf-8", "replace").split("|", 2), "", ""][:3]
    seats = (Seat(1, first, "lost"), Seat(2, second, "won"))
    result = read_game(RawGame(7, first, 200, texts.AMAZONS.encode(), variant, len(body) % 2 == 0, seats), USABLE)
    return [result.record if isinstance(result, Kept) else result]


def _amazons(body: bytes) -> Found:
    result = read_game(_raw(body), USABLE)
    return [result.record if isinstance(result, Kept) else result]


def _go(body: bytes) -> Found:
    return [_of_go(read_go(_raw(body)))]


def _sgf(body: bytes) -> Found:
    return [_of_go(result) for result in parse_sgf(body, name="hostile.sgf")]


def _sgf_games(body: bytes) -> Found:
    return [_of_go(result) for result in parse_games(body, name="hostile.sgf")]


def _of_go(result: SgfGame | Reject) -> GameRecord | Reject:
    return result.record if isinstance(result, SgfGame) else result


def _psq(body: bytes) -> Found:
    return [parse_psq(body).record]


def _players(body: bytes) -> Found:
    names = read_players(body)
    return [RawGame(1, "", 200, b"", seats=tuple(Seat(plid, name, "") for plid, name in names.items()))]


def _list(body: bytes) -> Found:
    return list(games_of(read_game_list(body, 5)))


def _api(body: bytes) -> Found:
    return list(read_api_games(body))


def _record_page(body: bytes) -> Found:
    check_record(body)
    return []


def _uci(body: bytes) -> Found:
    return _talk(lambda write: UciSession("amazons", "random", write), body)


def _gomocup(body: bytes) -> Found:
    return _talk(lambda write: GomocupSession("random", write), body)


def _talk(begin: Callable[[Callable[[str], None]], Any], body: bytes) -> Found:
    answers = io.BytesIO()
    # By protocol an engine may be made to run another program, which is no external input.
    body = re.sub(rb"(?i)player", b"player_", body)
    converse(begin, io.BytesIO(body), answers, "too long")
    text = answers.getvalue().decode("utf-8", "replace")
    if defect := _DEFECT.search(text):
        raise DefectError(text[defect.start() : defect.start() + 200])
    return []


def _fen(game: str) -> Callable[[bytes], Found]:
    rules = get_game(game)

    def read(body: bytes) -> Found:
        rules.to_fen(rules.from_fen(body.decode("utf-8", "replace")))
        return []

    return read


READERS = (
    Reader("Amazons records", texts.AMAZONS, _amazons, 8),
    Reader("what lists say of a game", texts.SAID, _said, 2),
    Reader("Go records of the site", texts.GO, _go, 6),
    Reader("SGF", texts.SGF, _sgf, 8),
    Reader("SGF of all games", texts.SGF_GOMOKU, _sgf_games, 4),
    Reader("Piskvorky records", texts.PSQ, _psq, 6),
    Reader("player lists", texts.PLAYERS, _players, 3),
    Reader("lists of games", texts.LIST, _list, 4),
    Reader("the JSON interface", texts.API, _api, 6),
    Reader("pages of records", texts.AMAZONS, _record_page, 1),
    Reader("UCI", texts.UCI, _uci, 3),
    Reader("Gomocup", texts.GOMOCUP, _gomocup, 3),
    Reader("FEN of Amazons", texts.FEN, _fen("amazons"), 2),
    Reader("FEN of Gomoku", texts.GOMOKU_FEN, _fen("gomoku"), 2),
    Reader("FEN of Go", texts.GO_FEN, _fen("go"), 2),
)
