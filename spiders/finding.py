"""Finds games: through the player list and each player's list of games, or through the JSON interface."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count

from tqdm import tqdm

from pipeline_src.records.raw import RawGame
from spiders.fetcher import API, Fetcher, FetchError, WayFailed
from spiders.pages import GameList, read_api_games, read_game_list, read_players

API_PAGE = 100
"""Games to ask the JSON interface for at once; it may send fewer."""

Warn = Callable[[str], None]


async def find_players(fetch: Fetcher, gtid: str, variants: Sequence[str], warn: Warn) -> dict[int, str]:
    """Names by plid of all players of a game type.

    A variant without a player list is warned of; it may have been misspelt, or have no players.

    Raises:
        WayFailed: no variant has one, or one breaks off.
    """
    players: dict[int, str] = {}
    errors: list[FetchError] = []
    for variant in variants:
        of_variant: dict[int, str] = {}
        for number in count(1):
            key = f"/jsp/info/player_list.jsp?gtvar={gtid}_{variant}&page={number}"
            try:
                page = await fetch.page(key, read_players)
            except FetchError as error:
                _first_page_only(number == 1, error, errors)
                break
            if page.keys() <= of_variant.keys():
                break
            of_variant |= page
        players = of_variant | players
    _some_variant(errors, variants, warn)
    if not players:
        raise WayFailed(f"no player of {gtid} in the player lists of {', '.join(variants)}")
    return players


async def find_lists(
    fetch: Fetcher, gtid: str, players: Mapping[int, str], lists: dict[int, GameList], max_failures: float, warn: Warn
) -> None:
    """Add to ``lists`` the list of games of each player that is not in it yet.

    Raises:
        WayFailed: more than the fraction ``max_failures`` of all players' lists cannot be had.
    """
    errors: list[FetchError] = []
    for plid in tqdm(sorted(players.keys() - lists.keys()), "lists", unit=" players", disable=None):
        key = f"/jsp/info/player_game_list.jsp?gtid={gtid}&plid={plid}"
        try:
            found = await fetch.page(key, partial(read_game_list, plid=plid))
        except FetchError as error:
            errors.append(error)
            if len(errors) > max_failures * len(players):
                raise WayFailed(f"{len(errors)} of {len(players)} players' lists failed, the last: {error}") from None
            continue
        lists[plid] = replace(found, name=found.name or players[plid])
    if errors:
        warn(f"{len(errors)} of {len(players)} players' lists failed, the last: {errors[-1]}")


async def find_by_api(fetch: Fetcher, gtid: str, variants: Sequence[str], warn: Warn) -> list[RawGame]:
    """All finished games that the JSON interface lists, newest first within a variant.

    Raises:
        WayFailed: it knows none of the variants, or breaks off.
    """
    games: dict[int, RawGame] = {}
    errors: list[FetchError] = []
    for variant in variants:
        query = f"{API}/games/variant/{gtid}/{variant}?state=finished&min_rating=0"
        offset = 0
        while True:
            try:
                page = await fetch.page(f"{query}&offset={offset}&limit={API_PAGE}", read_api_games)
            except FetchError as error:
                _first_page_only(offset == 0, error, errors)
                break
            new = {game.gid: game for game in page if game.gid not in games}
            if not new:
                break
            games |= new
            offset += len(page)
    _some_variant(errors, variants, warn)
    return list(games.values())


def _first_page_only(first: bool, error: FetchError, errors: list[FetchError]) -> None:
    """A variant whose first page fails may not exist; one that breaks off later has lost us games."""
    if not first:
        raise WayFailed(str(error)) from None
    errors.append(error)


def _some_variant(errors: Sequence[FetchError], variants: Sequence[str], warn: Warn) -> None:
    if len(errors) == len(variants):
        raise WayFailed(str(errors[0]))
    for error in errors:
        warn(str(error))
