"""From a player's text to the player: `make_player`."""

from collections.abc import Callable

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.player import Player, PlayerText


def _random(text: PlayerText) -> Player:
    from pipeline_src.players.amazons_basic import RandomPlayer

    _no_value(text)
    text.numbers()
    return RandomPlayer()


def _one_ply(text: PlayerText) -> Player:
    from pipeline_src.players.amazons_basic import OnePlyPlayer

    _no_value(text)
    noise = text.numbers(noise=0.0)["noise"]
    if not 0 <= noise < float("inf"):
        raise ZugwerkError(f"player 'one_ply': noise must be 0 or more, not {noise}")
    return OnePlyPlayer(noise)


def _nets(text: PlayerText) -> Player:
    from pipeline_src.players.amazons_nets import NetsPlayer

    text.numbers()
    return NetsPlayer.load(text.value)


PLAYERS: dict[str, dict[str, Callable[[PlayerText], Player]]] = {
    "amazons": {"random": _random, "one_ply": _one_ply, "nets": _nets},
}


def make_player(game: str, text: str) -> Player:
    """The player that ``text`` names, e.g. ``one_ply:noise=0.5`` or ``nets:artifacts/models/amazons/cross_entropy/nets.pt``.

    Raises:
        ZugwerkError: no such player or option for this game; lists those there are.
    """
    parsed = PlayerText.parse(text)
    known = PLAYERS.get(game, {})
    if parsed.name not in known:
        raise ZugwerkError(f"no player {parsed.name!r} for {game}; there are: {', '.join(known)}")
    return known[parsed.name](parsed)


def _no_value(text: PlayerText) -> None:
    if text.value:
        raise ZugwerkError(f"player '{text.name}' takes no {text.value!r} after the colon")
