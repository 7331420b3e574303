"""Convert a crawled Amazons game to a `GameRecord`, or to the reason for rejecting it."""

from dataclasses import dataclass

from pipeline_src.records.littlegolem.amazons import SIZE, check_turns, read_amazons, read_turns, site_variant
from pipeline_src.records.littlegolem.result import Evidence, find_winner, match_players, source_of, the_record
from pipeline_src.records.littlegolem.text import only_text
from pipeline_src.records.raw import RawGame
from pipeline_src.records.record import GameRecord
from pipeline_src.records.rejects import RecordError, Reject


@dataclass(frozen=True, slots=True)
class Usable:
    """Filter for the games to keep."""

    min_plies: int
    variants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A usable game."""

    record: GameRecord
    evidence: Evidence
    """Evidence for the winner."""


def read_game(raw: RawGame, usable: Usable) -> Kept | Reject:
    """Read one crawled game. Any answer of the server gives a game or a reject."""
    try:
        return _read(raw, usable)
    except RecordError as error:
        return Reject(raw.gid, error.ply, error.reason, error.detail)


def _read(raw: RawGame, usable: Usable) -> Kept:
    record = the_record(raw, only_text, read_amazons)
    actions, resigned = read_turns(record)
    listed = site_variant(raw.variant)
    _check_variant(listed, usable)
    game = check_turns(actions, resigned, listed)
    _check_variant(game.variant, usable)
    players = match_players(raw, record)
    outcome = find_winner(raw, players, len(game.actions), game.resigned, game.winner)
    if len(game.actions) < usable.min_plies:
        detail = f"{len(game.actions)} turns; at least {usable.min_plies} are wanted"
        raise RecordError("too_short", detail, len(game.actions))
    event = record.header.get("EV", "")
    return Kept(
        GameRecord(
            game="amazons",
            gid=raw.gid,
            source=source_of(raw),
            variant=game.variant,
            height=SIZE,
            width=SIZE,
            actions=game.actions,
            winner=outcome.winner,
            resigned=game.resigned,
            first_name=record.header.get("PB", ""),
            second_name=record.header.get("PW", ""),
            first_plid=players.first.plid if players.first else 0,
            second_plid=players.second.plid if players.second else 0,
            event="" if event == "null" else event,
        ),
        outcome.evidence,
    )


def _check_variant(variant: str, usable: Usable) -> None:
    if variant and variant not in usable.variants:
        raise RecordError("other_variant", f"{variant}; wanted: {', '.join(usable.variants)}")
