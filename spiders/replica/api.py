"""The site's JSON interface: games of a variant, of a player, of a tournament, and one game in detail."""

from typing import Any

from spiders.replica.board import FILES, TURN
from spiders.replica.site import Site, SiteGame, rating

DAY_MS = 86_400_000


def variant_games(site: Site, variant: str, offset: int, limit: int, min_rating: float) -> dict[str, Any]:
    """Finished games of a variant, newest first."""
    games = [g for g in site.finished(variant) if min(map(rating, g.players)) >= min_rating]
    return {"games": [_game(site, one) for one in games[offset : offset + limit]]}


def player_games(site: Site, plid: int, variant: str, offset: int, limit: int) -> dict[str, Any]:
    """Games of a player, newest first, finished or not; of all variants where ``variant`` is empty."""
    games = [one for one in reversed(site.by_player.get(plid, [])) if variant in ("", one.variant.id)]
    return {"games": [_game(site, one) for one in games[offset : offset + limit]]}


def tournament(site: Site, trnid: str) -> dict[str, Any]:
    """A tournament with its players and its games in detail."""
    games = site.by_event[trnid]
    plids = sorted({plid for one in games for plid in one.players})
    return {
        "trnid": trnid,
        "gtype": site.gtid,
        "variant": games[0].variant.id,
        "trntyp": _kind(trnid),
        "startdate": games[0].started_s * 1_000,
        "players": [{"player": _player(site, plid)} for plid in plids],
        "games": [game_detail(site, one) for one in games],
    }


def game_detail(site: Site, one: SiteGame) -> dict[str, Any]:
    """One game with its moves; the first of them is a placeholder without text."""
    start = one.started_s * 1_000
    moves = [{"nmove": 0, "plid": 1, "movetime": start, "jmove": "", "dmove": ""}]
    moves += [
        {
            "nmove": i,
            "plid": one.players[(i - 1) % 2],
            "movetime": start + i * DAY_MS,
            "jmove": _sent(node.value),
            "dmove": node.value,
        }
        for i, node in enumerate(one.nodes, 1)
    ]
    return _game(site, one) | {"moves": moves, "messages": [], "tournament": _kind(one.event)}


def _game(site: Site, one: SiteGame) -> dict[str, Any]:
    to_move = one.plies % 2  # stays so for ever where he lost on time
    return {
        "gid": one.gid,
        "gtid": site.gtid,
        "variant": one.variant.id,
        "players": [_player(site, plid) for plid in one.players],
        "status": 0 if one.running else 1,
        "results": list(one.points or (0, 0)),
        "onmove": one.players[to_move] if one.running or one.timed_out else 0,
        "expire_time": (one.started_s + one.plies * 86_400) * 1_000,
        "trnid": one.event or None,
    }


def _player(site: Site, plid: int) -> dict[str, Any]:
    player = {"plid": plid, "real_name": site.names[plid], "membership": False, "country": "EU"}
    return {"player": player, "rating": rating(plid), "deviation": 20}


def _kind(trnid: str) -> str:
    """Kind of a tournament: the second part of its id."""
    return trnid.partition(".")[2].partition(".")[0]


def _sent(move: str) -> str:
    """A turn as it is sent: file and rank of its three squares, each from 0; other texts as they are."""
    turn = TURN.fullmatch(move)
    return "".join(f"{FILES.index(s[0])}{int(s[1:]) - 1}" for s in turn.groups()) if turn else move
