"""The site's HTML pages, as far as a crawler reads them."""

import time
from collections.abc import Iterable
from html import escape

from spiders.replica.board import board_images
from spiders.replica.site import Site, SiteGame, rating

PLAYERS_PER_PAGE = 50
_CELL = "bgcolor='#E9D101'"


def player_list(site: Site, variant: str, number: int, name_filter: str) -> str:
    """Page ``number`` (from 1) of those who played a variant, best rated first; past the last page it is empty."""
    plids = [plid for plid in site.players_of(variant) if name_filter.lower() in site.names[plid].lower()]
    lines = [
        f'<tr><td><a href="player.jsp?plid={plid}">{escape(site.names[plid])}</a></td><td>Nowhere</td>'
        f'<td><span title="{rating(plid):.1f}">{_grade(plid)}</span></td></tr>'
        for plid in plids[(number - 1) * PLAYERS_PER_PAGE : number * PLAYERS_PER_PAGE]
    ]
    head = "<tr><th>Player</th><th>Country</th><th>Rating</th></tr>"
    return _page("Player list", _portlet(f"{site.title} players", f"<table>{head}{_joined(lines)}</table>"))


def player(site: Site, plid: int) -> str:
    """A player's page; empty for a number that nobody has."""
    if plid not in site.names:
        return ""
    link = f"<a href='player_game_list.jsp?gtid={site.gtid}&plid={plid}'>{len(site.by_player[plid])}</a>"
    rated = f"<span title='{rating(plid):.1f}'/>{_grade(plid)}</span>"
    lines = (
        f"<tr><td><b>Name:</b></td>\n<td>{escape(site.names[plid])}</td></tr>",
        f"<tr><td>{site.title}</td><td>{rated}</td><td>{link}</td></tr>",
    )
    return _page("Player", _portlet("Player", f"<table>{_joined(lines)}</table>"))


def player_game_list(site: Site, gtid: str, plid: int) -> str:
    """All games of a player, newest first, without a result where they go on; none for another game type."""
    games = site.by_player.get(plid, []) if gtid == site.gtid else []
    lines = [_game_line(site, game, plid) for game in reversed(games)]
    caption = f"List of games [{escape(site.names.get(plid, ''))}] [{site.title if gtid == site.gtid else ''}]"
    return _page("List of games", f"<h2>List of games</h2>{_portlet(caption, f'<table>{_joined(lines)}</table>')}")


def game(site: Site, one: SiteGame) -> str:
    """A game's page: players, times, score, board, moves, link to the record."""
    name = f"{site.title}-{one.variant.words}" if one.variant.words else site.title
    players = [
        f"<div>{colour}</div><a href='/jsp/info/player.jsp?plid={plid}'>{escape(site.names[plid])}</a> "
        f"<span title='{rating(plid):.1f}'/>{_grade(plid)}</span>"
        for colour, plid in zip(("White", "Black"), one.players, strict=True)
    ]
    score = [f"<span class='label label-info'>{points}</span>" for points in one.points or (0, 0)]
    times = f"Start time: {_stamp(one.started_s)}<br/>"
    if not one.running:
        times += f"Finish time: {_stamp(one.started_s + one.plies * 86_400)}<br/><b>game finished</b>"
    moves = " ".join(f"<b>{i}.{escape(node.value)}</b>" for i, node in enumerate(one.nodes, 1))
    link = f"<a class='yellow' href='/servlet/sgf/{one.gid}/game{one.gid}.txt'>PGN/SGF</a>"
    trn = f"<a href='/jsp/tournament/tournament.jsp?trnid={one.event}'>{escape(one.event)}</a>" if one.event else ""
    body = (
        f"<h3 class='page-title'>{name}</h3>",
        _portlet(f"#{one.gid}", _joined([*players, *score, times, trn, link])),
        _portlet("Board", _joined(board_images(one)) if site.gtid == "amzn" else ""),
        _portlet("Move List", moves),
    )
    return _page(f"{site.title} game #{one.gid}", _joined(body))


def tournament(site: Site, trnid: str) -> str:
    """A tournament's games, with the link to all their records; a finish date only when all are over."""
    games = site.by_event[trnid]
    lines = [f"<tr><td><a href='/jsp/game/game.jsp?gid={one.gid}'>#{one.gid}</a></td></tr>" for one in games]
    link = f"<a href='/jsp/game/png.jsp?{'&'.join(f'gid={one.gid}' for one in games)}'>PGN/SGF</a>"
    finish = "" if any(one.running for one in games) else f"<br>Finish date:({_stamp(games[-1].started_s)})  "
    head = f"<tr><td>{escape(trnid)}{finish}</td></tr>"
    return _page(trnid, _portlet(escape(trnid), f"<table>{head}{_joined(lines)}</table>{link}"))


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


def _stamp(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))
