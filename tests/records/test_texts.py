"""All formats of games, positions and moves as text: what is written is read back, and no text does harm.

What a format's text means, line by line, is in the tests of its own module.
"""

import random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.players.gomocup import read_cell, write_cell
from pipeline_src.players.uci import read_move, read_position, write_move
from pipeline_src.records.go_games import write_sgf
from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.psq import write_psq
from pipeline_src.records.record import GameRecord
from pipeline_src.web.records import read_games
from pipeline_src.web.trees import tree_of, written


class Played(NamedTuple):
    rules: object
    start: object
    state: object
    record: GameRecord


GAMES = {
    "amazons": [(6, "standard"), (10, "standard"), (10, "cross")],
    "gomoku": [(5, "freestyle-3"), (9, "exact"), (15, "renju"), (15, "caro-4")],
    "go": [(19, "komi-6.5"), (19, "komi-0.5/handicap-2:pd,dp"), (9, "standard")],
}
NAMES = st.text(st.characters(codec="latin-1", categories=["L"]), min_size=1, max_size=9)


@st.composite
def played(draw, names=tuple(GAMES), sizes=range(30)):
    """A random game to its end or broken off, of any of these games and sizes."""
    boards = [(name, *board) for name in names for board in GAMES[name] if board[0] in sizes]
    name, size, variant = draw(st.sampled_from(boards))
    rules, rng = get_game(name), random.Random(draw(st.integers(0, 1 << 30)))
    start, actions = rules.initial_state(size, variant), []
    state = start
    for _ in range(draw(st.integers(0, 60))):
        if rules.winner(state) is not None:
            break
        actions.append(int(rng.choice(rules.legal_actions(state))))
        state = rules.play(state, actions[-1])
    both = draw(NAMES), draw(NAMES)
    winner = None if name == "go" else rules.winner(state)
    return Played(
        rules, start, state, GameRecord(name, 1, "file", variant, size, size, tuple(actions), winner, False, *both)
    )


class Format(NamedTuple):
    games: st.SearchStrategy[Played]
    write: object  # A game as text
    read: object  # From a text, and the game that it was before it was damaged, what is compared
    wanted: object  # The same of the game


def as_record(write):
    """A format of files: all of the record comes back."""

    def read(text, game):
        return fields(read_games(text.encode(), "game.file").games[0])

    return write, read, lambda game: fields(game.record)


def fields(record):
    kept = ("game", "variant", "height", "width", "actions", "winner", "resigned", "first_name", "second_name")
    return [getattr(record, name) for name in kept]


def uci(game):
    moves = " ".join(write_move(game.rules, game.start, action) for action in game.record.actions)
    return f"fen {game.rules.to_fen(game.start)} moves {moves}"


def placed(text, game):
    found = read_position(game.rules, text.split())
    return list(found.actions), game.rules.to_fen(found.state)


def each_move(write, read):
    def all_written(game):
        return " ".join(write(game, action) for action in game.record.actions)

    return (
        all_written,
        lambda text, game: [read(game, word) for word in text.split()],
        lambda game: [*game.record.actions],
    )


def size_of(game):
    return game.state.board.shape


FORMATS = {
    "FEN": Format(
        played(),
        lambda game: game.rules.to_fen(game.state),
        lambda text, game: game.rules.to_fen(game.rules.from_fen(text)),
        lambda game: game.rules.to_fen(game.state),
    ),
    "SGF": Format(played(["amazons", "gomoku"]), *as_record(lambda game: written(tree_of(game.record)[0], "sgf"))),
    "SGF of Go": Format(played(["go"], [19]), *as_record(lambda game: write_sgf(game.record).decode())),
    "psq": Format(played(["gomoku"]), *as_record(lambda game: write_psq(game.record))),
    "LittleGolem": Format(
        played(["amazons"], [10]).filter(lambda game: len(game.record.actions) > 9),
        *as_record(lambda game: write_record(game.record).decode("latin-1")),
    ),
    "UCI": Format(
        played(["amazons", "gomoku"]), uci, placed, lambda game: ([*game.record.actions], game.rules.to_fen(game.state))
    ),
    **{
        f"moves of UCI, {form}": Format(
            played(["amazons"]),
            *each_move(
                lambda game, action, form=form: write_move(game.rules, game.start, action, form),
                lambda game, word: read_move(game.rules, game.start, word),
            ),
        )
        for form in ("joined", "pairs", "comma")
    },
    "moves": Format(
        played(),
        *each_move(
            lambda game, action: game.rules.format_move(action, *size_of(game)),
            lambda game, word: game.rules.parse_move(word, *size_of(game)),
        ),
    ),
    "cells of Gomocup": Format(
        played(["gomoku"]),
        *each_move(
            lambda game, action: write_cell(action, size_of(game)[1]),
            lambda game, word: read_cell(word, *size_of(game)),
        ),
    ),
}


@pytest.mark.parametrize("name", FORMATS)
@given(st.data())
def test_written_texts_are_read_back(name, data):
    one = FORMATS[name]
    game = data.draw(one.games)
    assert one.read(one.write(game), game) == one.wanted(game)


@st.composite
def damaged(draw, text):
    """A text with some parts lost, doubled or replaced, or something else."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.text(max_size=60))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = at + draw(st.sampled_from([0, 1, 2, 15, 400]))
        noise = st.text(max_size=4) | st.sampled_from(
            ["]", "[", "(", ")", ";", "\n\n", "\\", "-", "0", "99", ",", "/", " "]
        )
        text = text[:at] + draw(noise | st.just(text[at:end] * 2)) + text[end:]
    return text


@pytest.mark.parametrize("name", FORMATS)
@given(st.data())
def test_a_damaged_text_is_read_or_refused_in_few_words(name, data):
    one = FORMATS[name]
    game = data.draw(one.games)
    text = data.draw(damaged(one.write(game)))
    error = refusal(one, text, game)
    assert len(error) < 400
    assert error.isprintable()


def refusal(one, text, game):
    """The error about a text, empty for one that can be read."""
    try:
        one.read(text, game)
    except ZugwerkError as error:
        return str(error) or "\0"
    return ""
