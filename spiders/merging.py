"""Merge the data on one game from several places."""

from dataclasses import replace

from pipeline_src.records.raw import RawGame, Seat
from spiders.pages import NO_ANSWER, PageError, check_record

STATUS_GOOD = (0, 200)  # 0: from a user's file, 200: from a server


def has_record(game: RawGame) -> bool:
    """Whether a record came, also of an unfinished game or of another kind of game."""
    return not lacks(game)


def lacks(game: RawGame) -> str:
    """Describe the answer in place of a game's record; empty if the record came."""
    if game.status not in STATUS_GOOD:
        return f"status {game.status}" if game.status != NO_ANSWER else "no answer"
    try:
        check_record(game.body)
    except PageError as error:
        return str(error)
    return ""


def without_results(game: RawGame) -> RawGame:
    """A game as it was before its end."""
    return replace(game, seats=tuple(replace(seat, result="") for seat in game.seats))


def merge(old: RawGame, new: RawGame) -> RawGame:
    """``old`` with its record, completed by ``new``: variant, players, results, who moves first.

    A later result replaces an earlier one; the first name stays, so that a renamed player changes nothing.
    """
    seats: dict[int, Seat] = {}
    for seat in (*old.seats, *new.seats):
        before = seats.get(seat.plid, seat)
        seats[seat.plid] = Seat(seat.plid, before.name or seat.name, seat.result or before.result)
    ordered = next((game for game in (new, old) if game.order_known), None)
    plids = [seat.plid for seat in ordered.seats] if ordered else sorted(seats)
    return replace(
        old,
        variant=old.variant or new.variant,
        order_known=ordered is not None,
        seats=tuple(seats[plid] for plid in plids),
    )
