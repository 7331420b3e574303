"""The site as data and as pages: players, games good and bad, lists, records, the JSON interface."""

import html
import json
import random
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from tests.rehearsal.played import play

HOSTILE = (
    "x];W[a4-a5/a6",
    "lazy\\player",
    "Shumacher;]",
    "Jürgen",
    "ivy ★",
    "]PW[",
    "a]SO[b];W[d1-d2/d3",
    "安 x",
    "x)(;",
)
AMBIGUOUS = "y];W[d1-d7/g7])"
"""A name that is a game of one legal turn."""
PER_PAGE = 50
SITE = "http://www.littlegolem.com"
HEX = "(;FF[4]EV[null]PB[{0}]PW[{1}]SZ[11]SO[http://www.littlegolem.com];W[ba];B[swap];W[fg];B[ed])"
BAD = {
    "gone": "http_status",
    "nothing": "empty",
    "page": "bad_text",
    "hex": "other_game",
    "illegal": "illegal_move",
    "cut": "bad_text",
    "notation": "bad_text",
    "two": "several_records",
    "wrong winner": "contradiction",
    "small": "other_variant",
    "short": "too_short",
}
"""What may be wrong with a game, and the reason for which it is to be rejected."""
ALWAYS = {
    "gone": (500, b"<html><h1>An error occurred</h1></html>"),
    "nothing": (200, b""),
    "page": (200, b"<!DOCTYPE html><html><body>no such game</body></html>"),
}
"""What is sent for the record of a game that the site has lost."""


@dataclass
class Game:
    """One game."""

    gid: int
    variant: str
    players: tuple[int, int]
    """Plids; the first moves first."""
    names: tuple[str, str]
    """Of the players when it was played, as its record has them."""
    turns: list[str]
    ending: str
    """``resign``, ``time`` (nothing tells it), ``position``, or ``running``."""
    bad: str = ""

    @property
    def loser(self):
        """Seat of the loser: the side to move at the end."""
        return len(self.turns) % 2

    @property
    def nodes(self):
        nodes = [f"{'WB'[ply % 2]}[{turn}]" for ply, turn in enumerate(self.turns)]
        return nodes + [f"{'WB'[len(nodes) % 2]}[resign]"] * (self.ending == "resign")

    def record(self):
        """Status and bytes for the game's record."""
        if self.bad in ALWAYS:
            return ALWAYS[self.bad]
        if self.bad == "hex":
            return 200, HEX.format(*self.names).encode("latin-1", "replace")
        nodes = self.nodes
        middle = len(self.turns) // 2
        if self.bad == "illegal":
            nodes[middle] = f"{'WB'[middle % 2]}[a1-a1/a1]"
        if self.bad == "notation":
            nodes[middle] = nodes[middle].replace("-", "").replace("/", "")
        head = f"(;FF[4]EV[null]PB[{self.names[0]}]PW[{self.names[1]}]SO[{SITE}]"
        text = f"{head};{';'.join(nodes)})" if nodes else f"{head})"
        body = text.encode("latin-1", "replace")
        if self.bad == "cut":
            return 200, body[: 2 * len(body) // 3]
        return 200, body + b"\r\n\r\n" + body.replace(b"PB[", b"PB[un") if self.bad == "two" else body


@dataclass
class Site:
    """Games among players, some of them bad, as a seed has it."""

    seed: int = 0
    names: dict[int, str] = field(default_factory=dict)
    """By plid, in the order of the player list."""
    games: dict[int, Game] = field(default_factory=dict)
    of: dict[int, list[Game]] = field(default_factory=dict)
    """Games by player, oldest first."""

    def add_players(self, count):
        rng = random.Random(f"{self.seed} players {len(self.names)}")
        for number in range(len(self.names), len(self.names) + count):
            plid = 500 + 7 * number + rng.randrange(7)
            hostile = HOSTILE[number // 9 % len(HOSTILE)] + str(number) * (number // 9 >= len(HOSTILE))
            self.names[plid] = hostile if number % 9 == 4 else f"player {number}"
            self.of[plid] = []

    def add_games(self, count, bad=0.01, running=0.02, plies=(20, 45)):
        rng = random.Random(f"{self.seed} games {len(self.games)}")
        plids = list(self.names)
        weights = [1 / (5 + place) for place in range(len(plids))]
        gid = max(self.games, default=100_000)
        for number in range(count):
            gid += rng.randrange(1, 40)
            first, second = rng.choices(plids, weights, k=2)
            if first == second:
                second = plids[plids.index(first) - 1]
            variant = "Cross" if rng.random() < 0.03 else "Size 10"
            wrong = rng.choice(list(BAD)) if rng.random() < bad else ""
            ending = "running" if rng.random() < running else rng.choice(["resign", "resign", "time"])
            if wrong == "wrong winner":
                ending = "resign"
            if wrong:
                ending = ending.replace("running", "time")
            whole = number % 400 == 7 and not wrong
            turns, stuck = play(
                f"{self.seed} {gid}", 200 if whole else 9 if wrong == "short" else rng.randint(*plies), variant
            )
            names = self.names[first], self.names[second]
            game = Game(gid, variant, (first, second), names, turns, "position" if stuck else ending, wrong)
            self.games[gid] = game
            self.of[first].append(game)
            self.of[second].append(game)

    def finish(self, count):
        """Let some of the games that go on end."""
        for game in [game for game in self.games.values() if game.ending == "running"][:count]:
            game.ending = "resign"

    def rename(self, count):
        """Some players take other names; records keep those of their time."""
        for number, plid in enumerate(list(self.names)[1 : 1 + 3 * count : 3]):
            self.names[plid] = f"was {number}"

    def good(self):
        """The games to be kept, by gid: actions' text, seat of the winner, variant."""
        return {
            gid: (game.turns, 1 - game.loser, game.variant)
            for gid, game in self.games.items()
            if not game.bad and game.ending != "running" and AMBIGUOUS not in game.names
        }

    def rejects(self):
        """Reason by gid of the games that are over and to be rejected."""
        return {
            gid: BAD.get(game.bad, "ambiguous")
            for gid, game in self.games.items()
            if game.ending != "running" and (game.bad or AMBIGUOUS in game.names)
        }

    def answer(self, target):
        """Kind of the page, status, bytes; and the games whose record it brings."""
        path, _, query = target.partition("?")
        words = {key: values[0] for key, values in parse_qs(query).items()}
        if path == "/robots.txt":
            return "robots.txt", 200, b"User-agent: *\nDisallow: /jsp/login/\nCrawl-delay: 0\n", []
        if path == "/jsp/info/player_list.jsp":
            return "player list", 200, self._players(words), []
        if path == "/jsp/info/player_game_list.jsp":
            return "list of games", 200, self._list(int(words["plid"])), []
        if path == "/jsp/info/player_game_list_txt.jsp":
            games = [game for game in reversed(self.of[int(words["plid"])]) if game.bad not in (*ALWAYS, "two")]
            return "page of records", 200, b"\r\n\r\n".join(game.record()[1] for game in games) + b"\r\n", games
        if path.startswith("/servlet/sgf/"):
            game = self.games.get(int(path.split("/")[3]))
            return ("record", *game.record(), [game]) if game else ("record", 500, ALWAYS["gone"][1], [])
        if path.startswith("/games/variant/amzn/"):
            return "API", 200, self._api(path.rpartition("/")[2], words), []
        return "else", 404, b"", []

    def _players(self, words):
        gtid, _, variant = words["gtvar"].partition("_")
        words_of = {"DEFAULT": "Size 10", "CROSS": "Cross"}.get(variant, "") if gtid == "amzn" else ""
        plids = [plid for plid in self.names if any(game.variant == words_of for game in self.of[plid])]
        page = int(words.get("page", 1))
        rows = [
            f"<tr><td><a href='player.jsp?plid={plid}'>{html.escape(self.names[plid])}</a></td><td>&nbsp;</td>"
            f"<td><span title='{2000 - place}.5'>{place % 12 + 1}. kyu</span></td></tr>\r\n"
            for place, plid in enumerate(plids)
        ][(page - 1) * PER_PAGE : page * PER_PAGE]
        return _page("<table><tr><th>Player</th><th>Country</th><th>Rating</th></tr>" + "".join(rows) + "</table>")

    def _list(self, plid):
        rows = []
        for game in reversed(self.of[plid]):
            seat = game.players.index(plid)
            lost = (game.loser == seat) != (game.bad == "wrong winner")
            result = "" if game.ending == "running" else "lost" if lost else "win"
            variant = "Size 8" if game.bad == "small" else game.variant
            opponent = self.names[game.players[1 - seat]]
            rows.append(
                f"<tr><td align='left' bgcolor='#E9D101'><b><a href='/jsp/game/game.jsp?gid={game.gid}'>#{game.gid}</a>"
                f"</b>&nbsp;</td>\r\n<td bgcolor='#E9D101'>{html.escape(opponent)}&nbsp;</td>\r\n"
                f"<td align='middle' nowrap=''>&nbsp;<span title='1700.0'>3. kyu</span>&nbsp;</td>\r\n"
                f"<td align='left' bgcolor='#E9D101'>Amazons <span>{variant}</span>&nbsp;</td>\r\n"
                f"<td align='right'>{len(game.nodes)}&nbsp;</td>\r\n<td align=center>{result}&nbsp;</td></tr>\r\n"
            )
        caption = f"List of games [{html.escape(self.names[plid])}] [Amazons]"
        return _page(f"<h2>List of games</h2><div>{caption}</div><table>{''.join(rows)}</table>")

    def _api(self, variant, words):
        words_of = {"DEFAULT": "Size 10", "CROSS": "Cross"}.get(variant)
        over = [game for game in self.games.values() if game.variant == words_of and game.ending != "running"]
        first = int(words["offset"])
        games = [
            {
                "gid": game.gid,
                "variant": variant,
                "status": 1,
                "results": [0, 2] if game.loser == 0 else [2, 0],
                "players": [{"player": {"plid": plid, "real_name": self.names[plid]}} for plid in game.players],
            }
            for game in over[::-1][first : first + int(words["limit"])]
        ]
        return json.dumps({"games": games}).encode()


def _page(body):
    styles = "<!-- " + "x" * 6_000 + " -->"  # the site's pages have as much around their tables
    return (
        f"<!DOCTYPE html>\r\n<html><head><title>Little Golem</title>{styles}</head><body>{body}</body></html>".encode()
    )
