"""LittleGolem: the addresses of its pages; spiders/pages.py parses them."""

from pipeline_src.records.raw import RawGame
from spiders.fetcher import API
from spiders.pages import GameList, read_api_games, read_game_list, read_players
from spiders.spider import API_PAGE, GameSpider


class LittleGolemSpider(GameSpider):
    """The site's pages and its JSON interface."""

    name = "littlegolem"
    optional = frozenset({"page=1", "offset=0", "min_rating=0"})

    def players_page(self, variant: str, number: int) -> str:
        """Best rated players first."""
        return f"/jsp/info/player_list.jsp?gtvar={self.plan.gtid}_{variant}&page={number}"

    def read_players(self, body: bytes) -> dict[int, str]:
        """Names by plid."""
        return read_players(body)

    def list_page(self, plid: int) -> str:
        """Newest games first, including those in progress."""
        return f"/jsp/info/player_game_list.jsp?gtid={self.plan.gtid}&plid={plid}"

    def read_list(self, body: bytes, plid: int) -> GameList:
        """A player's games."""
        return read_game_list(body, plid)

    def record_page(self, gid: int) -> str:
        """The record in the site's own notation."""
        return f"/servlet/sgf/{gid}/game{gid}.txt"

    def text_page(self, plid: int) -> str:
        """The records of all of a player's games, without their numbers."""
        return f"/jsp/info/player_game_list_txt.jsp?plid={plid}&gtid={self.plan.gtid}"

    def api_page(self, variant: str, offset: int) -> str:
        """Finished games, newest first."""
        query = f"state=finished&min_rating=0&offset={offset}&limit={API_PAGE}"
        return f"{API}/games/variant/{self.plan.gtid}/{variant}?{query}"

    def read_api(self, body: bytes) -> list[RawGame]:
        """Games with their players in the order of moving."""
        return read_api_games(body)
