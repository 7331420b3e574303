"""Players, and games good and bad, with the records that are sent for them; the replica makes pages of them."""

import random
from dataclasses import dataclass, field
from functools import cached_property

from spiders.replica import site as replica
from spiders.replica.site import Answer, Routes
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
    """``resign``, ``time`` (not in the record), ``position``, or ``running``."""
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
    names: dict[int, str] = field(default_factory=dict)
    """By plid, in the order of the player list."""
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
