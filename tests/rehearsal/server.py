"""The replica's server for a `Site`: it notes every request, fails now and then, and can stop amid an answer."""

import hashlib
import random
import re
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial

from spiders.replica import site as replica
from spiders.replica.site import BROKEN, HTML, Answer, Routes
from tests.games.amazons_reference import SlowAmazons

# Random games of the Amazons, by the tests' slow rules: no line of the package judges itself.

STARTS = {"Size 10": "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w", "Cross": "3Q2Q3/10/10/q8q/10/10/q8q/10/10/3Q2Q3 w"}
"""By the site's words for the variant."""


def text_of(at):
    return f"{'abcdefghij'[at[1]]}{at[0] + 1}"


def play(seed, plies, variant="Size 10"):
    """Up to ``plies`` random turns as the site writes them, and whether the side to move then cannot."""
    rng, game, turns = random.Random(seed), SlowAmazons(STARTS[variant]), []
    while True:
        piece = "Q" if game.side == "w" else "q"
        movable = [at for at, there in game.squares.items() if there == piece and game.reach(at)]
        if not movable or len(turns) == plies:
            return turns, not movable
        start = rng.choice(movable)
        to = rng.choice(game.reach(start))
        game.squares[start], game.squares[to] = ".", piece
        arrow = rng.choice(game.reach(to))
        game.squares[start], game.squares[to] = piece, "."
        game.play(start, to, arrow)
        turns.append(f"{text_of(start)}-{text_of(to)}/{text_of(arrow)}")


def action(turn):
    """The number of a turn (docs/glossary.md): (from * 100 + to) * 100 + arrow; a square is (rank - 1) * 10 + file."""
    start, to, arrow = ((int(text[1:]) - 1) * 10 + "abcdefghij".index(text[0]) for text in re.split("[-/]", turn))
    return (start * 100 + to) * 100 + arrow


# Players, and games good and bad, with the records that are sent for them; the replica makes pages of them.

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
AMBIGUOUS = "y];W[d1-d7/g7])"  # A name that is a game of one legal turn
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
    players: tuple[int, int]  # Plids; the first moves first
    names: tuple[str, str]  # Of the players when it was played, as its record has them
    turns: list[str]
    ending: str  # `resign`, `time` (not in the record), `position`, or `running`
    bad: str = ""

    @property
    def over(self):
        return self.ending != "running"

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
    names: dict[int, str] = field(default_factory=dict)  # By plid, in the order of the player list
    games: dict[int, Game] = field(default_factory=dict)

    def add_players(self, count):
        rng = random.Random(f"{self.seed} players {len(self.names)}")
        for number in range(len(self.names), len(self.names) + count):
            plid = 500 + 7 * number + rng.randrange(7)
            hostile = HOSTILE[number // 9 % len(HOSTILE)] + str(number) * (number // 9 >= len(HOSTILE))
            self.names[plid] = hostile if number % 9 == 4 else f"player {number}"
        self._changed()

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
            self.games[gid] = Game(gid, variant, (first, second), names, turns, "position" if stuck else ending, wrong)
        self._changed()

    def finish(self, count):
        """Let some of the unfinished games end."""
        for game in [game for game in self.games.values() if not game.over][:count]:
            game.ending = "resign"
        self._changed()

    def rename(self, count):
        """Some players take other names; records keep those of their time."""
        for number, plid in enumerate(list(self.names)[1 : 1 + 3 * count : 3]):
            self.names[plid] = f"was {number}"
        self._changed()

    def good(self):
        """The games to be kept, by gid: actions' text, seat of the winner, variant."""
        return {
            gid: (game.turns, 1 - game.loser, game.variant)
            for gid, game in self.games.items()
            if not game.bad and game.over and AMBIGUOUS not in game.names
        }

    def rejects(self):
        """Reason by gid of the games that are over and to be rejected."""
        return {
            gid: BAD.get(game.bad, "ambiguous")
            for gid, game in self.games.items()
            if game.over and (game.bad or AMBIGUOUS in game.names)
        }

    def answer(self, target):
        """Return the replica's answer for a target."""
        return self._served[0](target)

    def games_in(self, body):
        """Return the valid games that are over and whose record is in an answer."""
        games = self._served[1]
        return [games[record] for record in body.split(b"\r\n\r\n") if record in games]

    @cached_property
    def _served(self):
        """The replica's pages, and the valid games that are over by their records; until the site changes."""
        routes = Routes(replica.Site("amzn", map(served, self.games.values()), dict(self.names)))
        return routes, {game.record()[1]: game for game in self.games.values() if game.over and not game.bad}

    def _changed(self):
        self.__dict__.pop("_served", None)


def served(game):
    """Return a game as the replica has it."""
    words = "Size 8" if game.bad == "small" else game.variant
    winner = game.loser if game.bad == "wrong winner" else 1 - game.loser
    return replica.SiteGame(
        gid=game.gid,
        variant=replica.Variant({"Cross": "CROSS"}.get(game.variant, "DEFAULT"), words),
        players=game.players,
        points=((0, 2) if winner else (2, 0)) if game.over else None,
        running=not game.over,
        plies=len(game.nodes),
        answer=lambda: Answer(game.record()[0], replica.RECORD_TYPE, game.record()[1]),
    )


HOLD_S = 60.0
KINDS = {
    "/robots.txt": "robots.txt",
    "/jsp/info/player_list.jsp": "player list",
    "/jsp/info/player_game_list.jsp": "list of games",
    "/jsp/info/player_game_list_txt.jsp": "page of records",
    "/servlet/sgf": "record",
    "/api/games": "API",
}
"""Kind of a page by the beginning of its path."""
MOODS = {
    "503": BROKEN._replace(status=503, headers=("Retry-After: 1",)),
    "500": BROKEN,
    "nothing": Answer(200, HTML, b""),
    "page": Answer(200, HTML, b"<html><body>just a moment</body></html>"),
    "closed": None,
}
"""Answers in place of a page; the connection is closed for None. The third and the fourth come for records alone."""


@dataclass
class Asked:
    """A request and what was sent."""

    at: float
    kind: str
    target: str
    status: int  # 0: the connection was closed before a whole answer
    sent: int  # Bytes of the body
    games: list[Game] = field(default_factory=list)  # Valid games that are over and whose record was sent


@dataclass
class Trap:
    """Waits for a request, lets part of its answer pass, and holds the rest until it is released."""

    kind: str
    part: float  # Share of the body that is sent at once; below 0 nothing, not even a header
    after: int = 0  # Requests of the kind that pass before
    sprung: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)


class Server(replica.Server):
    """Serves a site on loopback."""

    def __init__(self, site, port=0, failing=0.0):
        super().__init__(("127.0.0.1", port), self.reply)
        self.site = site
        self.port = self.server_address[1]
        self.failing = failing
        self.asked = []
        self.times = Counter()
        self.trap = None
        self.lock = threading.Lock()
        self.watched = None  # Called with each `Asked`
        self.dropped = False

    def drop(self):
        """Take no connection any more, and answer on none."""
        self.dropped = True
        self.shutdown()
        self.socket.close()

    def mood(self, target, kind):
        """Return what goes wrong the first time that a page is asked for, if anything."""
        number = int(hashlib.sha256(target.encode()).hexdigest()[:8], 16) / 2**32
        if kind == "robots.txt" or self.times[target] > 1 or number >= self.failing:
            return ""
        return list(MOODS)[int(number / self.failing * len(MOODS))]

    def reply(self, target):
        """Return the answer for a target."""
        if self.dropped:
            raise ConnectionResetError
        with self.lock:
            at = time.monotonic()
            kind = next((kind for path, kind in KINDS.items() if target.partition("?")[0].startswith(path)), "else")
            self.times[target] += 1
            answer = self.site.answer(target)
            mood = self.mood(target, kind)
            if mood and (mood not in ("nothing", "page") or kind in ("record", "page of records")):
                answer = MOODS[mood]
            asked = Asked(at, kind, target, answer.status if answer else 0, len(answer.body) if answer else 0)
            self.asked.append(asked)
            trap = self._trap(kind) if answer else None
        if answer is None:
            raise ConnectionResetError
        if kind in ("record", "page of records") and answer.status == 200:
            asked.games = self.site.games_in(answer.body)
        if self.watched:
            self.watched(asked)
        return answer._replace(part=trap.part, sent=partial(self._hold, trap, asked)) if trap else answer

    def _trap(self, kind):
        trap = self.trap
        if not trap or trap.kind != kind:
            return None
        trap.after -= 1
        if trap.after >= 0:
            return None
        self.trap = None
        return trap

    def _hold(self, trap, asked):
        if trap.part < 1:
            asked.games, asked.status = [], 0
        trap.sprung.set()
        if trap.part < 1:
            trap.release.wait(HOLD_S)


@contextmanager
def serving(site, **options):
    """Run a server in threads of this process during the block."""
    with Server(site, **options) as running:
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield running
        finally:
            if running.trap:
                running.trap.release.set()
            if not running.dropped:
                running.shutdown()
