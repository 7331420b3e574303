"""Texts of moves, positions and starts: what each game refuses, and how it says so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, get_game


@given(st.sampled_from(["amazons", "gomoku", "go"]), st.integers(3, 25), st.integers(3, 25), st.data())
def test_move_text_round_trip(name, height, width, data):
    rules = get_game(name)
    if name == "amazons":
        height, width = min(height, 10), min(width, 10)
    actions = {"amazons": (height * width) ** 3, "gomoku": height * width, "go": height * width + 1}
    action = data.draw(st.integers(0, actions[name] - 1))
    text = rules.format_move(action, height, width)
    for form in (text, text.lower(), text.upper()):
        assert rules.parse_move(form, height, width) == action


NO_TURNS = ("", "d9", "d9-e10", "d9-e10/e11", "d0-e1/e2", "k1-a1/a2", "d9-e10/e5x", "d9-e10(e5", "d9-e10/e\u0665")
NO_POINTS = ("", "d", "4", "d0", "d04", "d4x", "dd4", "d-4", "d 4", "d\u0664")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        *(("amazons", text, "not a turn") for text in NO_TURNS),
        *(("gomoku", text, "not a move") for text in (*NO_POINTS, "z1")),
        *(("go", text, "not a move") for text in (*NO_POINTS, "I9", "tenuki")),
        *(("gomoku", text, "no such point on a 15x15 board") for text in ("p1", "a16", "y25")),
        *(("go", text, "no such point on a 19x19 board") for text in ("u1", "a20", "z25")),
    ],
)
def test_bad_move_text_is_named(name, text, message):
    with pytest.raises(ZugwerkError, match=message):
        get_game(name).parse_move(text)


@pytest.mark.parametrize("text", ["a1-a2/a7", "a1-a2/g1"])
def test_squares_outside_a_small_board_are_refused(text):
    with pytest.raises(ZugwerkError, match="6x6"):
        amazons.parse_move(text, 6, 6)


@pytest.mark.parametrize(
    ("name", "fen", "message"),
    [
        ("amazons", "", "expected ranks"),
        ("amazons", amazons.STANDARD[:-1] + "x", "expected ranks"),
        ("amazons", f"{amazons.STANDARD} - - 0 1 2", "expected ranks"),
        ("amazons", f"{amazons.STANDARD} KQkq - 0 1", "'KQkq' after the side to move is neither '-' nor a number"),
        ("amazons", amazons.STANDARD.replace(" w", "[PPp w"), "unknown letter"),
        ("amazons", amazons.STANDARD.replace("3q2q3", "3q2q2"), "9, 10, 10"),
        ("amazons", amazons.STANDARD.replace("q8q", "q8k"), "unknown letter 'k'"),
        ("amazons", "2/2 w", "board 2x2"),
        ("amazons", "3q2q3 w", "board 1x10"),
        ("amazons", "11/11/11 w", "board 3x11"),
        ("amazons", "0q2/3/3 w", "run of 0"),
        ("amazons", amazons.STANDARD.replace("10", "99999999999", 1), "run of"),
        ("amazons", "QQ1/QQQ/q2 w", "5 amazons of one side; at most 4 can be played"),
        ("amazons", "Q2/qqq/1qq b", "5 amazons of one side"),
        ("go", "", "expected ranks"),
        ("go", "3/3/3", "expected ranks"),
        ("go", "3/3/3 x", "expected ranks"),
        ("go", "3/3/3 b komi-0 pass-1", "expected ranks"),
        ("go", "3/3/3 b pass-3", "expected ranks"),
        ("go", "3/3/3 b standard", "expected ranks"),
        ("go", "3/4/3 b", "ranks have 3, 4, 3 points"),
        ("go", "3//3 b", "ranks have 3, 0, 3 points"),
        ("go", "2x/k2/2o b", "unknown letter 'k'"),
        ("go", "2X/3/3 w", "unknown letter 'X'"),
        ("go", "2/2 b", "board 2x2"),
        ("go", "26/26/26 b", "board 3x26"),
        ("go", "0/3/3 b", "run of 0"),
        ("go", "xxx/xox/xxx b", "stones without a liberty"),
        ("go", "3/3/3 b ko-b2", "the ko point is not"),
        ("go", "1x1/x1x/1x1 b ko-b2", "the ko point is not"),
        ("go", "3/3/3 b ko-z9", "no such point"),
        ("go", "3/3/3 b komi-1.3", "no variant 'komi-1.3'"),
        ("gomoku", "", "expected ranks"),
        ("gomoku", "3/3/3", "expected ranks"),
        ("gomoku", "3/3/3 x", "expected ranks"),
        ("gomoku", "3/3/3 b freestyle-3 1", "expected ranks"),
        ("gomoku", "3/4/3 b freestyle-3", "ranks have 3, 4, 3 cells"),
        ("gomoku", "3//3 b freestyle-3", "ranks have 3, 0, 3 cells"),
        ("gomoku", "2x/k2/2o b freestyle-3", "unknown letter 'k'"),
        ("gomoku", "2X/3/3 w freestyle-3", "unknown letter 'X'"),
        ("gomoku", "2/2 b", "board 2x2"),
        ("gomoku", "26/26/26 b", "board 3x26"),
        ("gomoku", "0/3/3 b", "run of 0"),
        ("gomoku", "9999999999/3/3 b", "run of 9999999999"),
        ("gomoku", "2x/3/3 b freestyle-3", "1 more black than white stones with 'b'"),
        ("gomoku", "3/3/3 w freestyle-3", "0 more black than white stones with 'w'"),
        ("gomoku", "2o/3/3 w freestyle-3", "-1 more black"),
        ("gomoku", "xxx/oo1/o2 b freestyle-3", "the side to move has a line"),
        ("gomoku", "3/3/3 b", "a line of 5 does not fit a board of 3x3"),
        ("gomoku", "3/3/3 b pente", "no variant 'pente' of Gomoku; there are freestyle, exact, renju, caro"),
        ("gomoku", "3/3/3 b renju-3", "no variant 'renju-3'"),
        ("gomoku", "3/3/3 b freestyle-", "no variant 'freestyle-'"),
        ("gomoku", "3/3/3 b freestyle-0", "no variant 'freestyle-0'"),
    ],
)
def test_bad_fen_names_the_error(name, fen, message):
    with pytest.raises(ZugwerkError, match=message):
        get_game(name).from_fen(fen)


@pytest.mark.parametrize(
    ("name", "size", "variant", "message"),
    [
        ("amazons", 9, "standard", "10 standard, 10 cross, 8 standard"),
        ("go", 2, "standard", "from 3 to 25"),
        ("go", 26, "standard", "from 3 to 25"),
        ("go", 19, "", "no variant ''"),
        ("go", 19, "komi-", "no variant"),
        ("go", 19, "komi-6.25", "no variant"),
        ("go", 19, "komi-999", "no variant"),
        ("go", 19, "komi-100", "no variant"),
        ("go", 19, "/handicap-1:dd", "no variant"),
        ("go", 19, "komi-1/", "no variant"),
        ("go", 19, "komi-1handicap-1:dd", "no variant"),
        ("go", 19, "handicap-2:dd,dd", "no variant"),
        ("go", 19, "handicap-2:dd,d", "no variant"),
        ("go", 19, "handicap-2:dd,di,pp", "2 handicap stones, but 3 points"),
        ("go", 9, "handicap-1:pd", "outside a board of 9x9"),
        ("go", 3, "handicap-9:aa,ab,ac,ba,bb,bc,ca,cb,cc", "without a liberty"),
        ("gomoku", 2, "freestyle-2", "from 3 to 25"),
        ("gomoku", 26, "freestyle", "from 3 to 25"),
        ("gomoku", 4, "exact", "a line of 5 does not fit"),
    ],
)
def test_no_such_start(name, size, variant, message):
    with pytest.raises(ZugwerkError, match=message):
        get_game(name).initial_state(size, variant)
