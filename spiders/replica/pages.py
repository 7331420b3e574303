"""The site's pages as far as a crawler reads them: lists in HTML, finished games in JSON."""

from collections.abc import Iterable
from html import escape
from typing import Any

from spiders.replica.site import Site, SiteGame, rating

PLAYERS_PER_PAGE = 50
_CELL = "bgcolor='#E9D101'"


def player_list(site: Site, variant: str, number: int) -> str:
    """Page ``number`` (from 1) of those who played a variant, best rated first; past the last page it is empty."""
    plids = site.players_of(variant)
    lines = [
        f'<tr><td><a href="player.jsp?plid={plid}">{escape(site.names[plid])}</a></td><td>Nowhere</td>'
        f'<td><span title="{rating(plid):.1f}">{_grade(plid)}</span></td></tr>'
        for plid in plids[(number - 1) * PLAYERS_PER_PAGE : number * PLAYERS_PER_PAGE]
    ]
    head = "<tr><th>Player</th><th>Country</th><th>Rating</th></tr>"
    return _page("Player list", _portlet(f"{site.title} players", f"<table>{head}{_joined(lines)}</table>"))


def player_game_list(site: Site, gtid: str, plid: int) -> str:
    """All games of a player, newest first, unfinished ones without a result; none for another game type."""
    games = site.by_player.get(plid, []) if gtid == site.gtid else []
    lines = [_game_line(site, game, plid) for game in reversed(games)]
    caption = f"List of games [{escape(site.names.get(plid, ''))}] [{site.title if gtid == site.gtid else ''}]"
    return _page("List of games", f"<h2>List of games</h2>{_portlet(caption, f'<table>{_joined(lines)}</table>')}")


def variant_games(site: Site, variant: str, offset: int, limit: int) -> dict[str, Any]:
    """Return finished games of a variant, newest first."""
    return {"games": [_game(site, one) for one in site.finished(variant)[offset : offset + limit]]}


def _game(site: Site, one: SiteGame) -> dict[str, Any]:
    players = [{"player": {"plid": plid, "real_name": site.names[plid]}} for plid in one.players]
    results = list(one.points or (0, 0))
    return {"gid": one.gid, "variant": one.variant.id, "players": players, "status": 1, "results": results}


def _game_line(site: Site, one: SiteGame, plid: int) -> str:
    seat = one.players.index(plid)
    opponent = one.players[1 - seat]
    result = "" if one.points is None else ("lost", "draw", "win")[one.points[seat]]
    variant = f" <span class='variant'>{one.variant.words}</span>" if one.variant.words else ""
    cells = (
        f"<td align='left' {_CELL}><b><a href='/jsp/game/game.jsp?gid={one.gid}'>#{one.gid}</a></b>&nbsp;</td>",
        f"<td {_CELL}>{escape(site.names[opponent])}&nbsp;</td>",
        f"<td align='middle' nowrap=''>&nbsp;<span title='{rating(opponent):.1f}'>{_grade(opponent)}</span>&nbsp;</td>",
        f"<td align='left' {_CELL}>{site.title}{variant}&nbsp;</td>",
        f"<td align='right'>{one.plies}&nbsp;</td>",
        f"<td align=center>{result}&nbsp;</td>",
    )
    return f"<tr>{''.join(cells)}</tr>"


def _page(title: str, body: str) -> str:
    return f"<!DOCTYPE html>\r\n<html><head><title>{escape(title)}</title></head>\r\n<body>{body}</body></html>\r\n"


def _portlet(title: str, body: str) -> str:
    return (
        f"<div class='portlet'><div class='portlet-title'>{title}</div>\r\n"
        f"<div class='portlet-body'>{body}</div></div>\r\n"
    )


def _joined(lines: Iterable[str]) -> str:
    return "\r\n".join(lines)


def _grade(plid: int) -> str:
    grade = int(rating(plid) - 1_200) // 100
    return f"{12 - grade}. kyu" if grade < 12 else f"{grade - 11}. dan"
