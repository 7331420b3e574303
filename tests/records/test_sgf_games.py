import pytest

from pipeline_src.games import amazons, gomoku
from pipeline_src.records.record import Reject
from pipeline_src.records.sgf_games import parse_games

GOMOKU, AMAZONS = "(;GM[4]FF[4]SZ[15]PB[a]PW[b]", "(;GM[18]SZ[10]PB[a]PW[b]"
FIVE = ";B[aa];W[ba];B[ab];W[bb];B[ac];W[bc];B[ad];W[bd];B[ae]"
TURNS = ";W[d1-d7/g7];B[a7-f2/i5]"


def one(text):
    (found,) = parse_games(text.encode() if isinstance(text, str) else text, name="game.sgf")
    return found


def moves(text):
    record = one(text).record
    rules = {"gomoku": gomoku, "amazons": amazons}[record.game]
    return [rules.format_move(action, record.height, record.width) for action in record.actions]


def test_moves_are_read_from_the_root_node_on():
    assert moves(f"{GOMOKU}B[hh];W[ii];B[hg])") == ["h8", "i7", "h9"]
    assert moves(f"{GOMOKU}PL[B]B[hh];W[i7])") == ["h8", "i7"]
    assert moves("(;GM[18]SZ[10]W[d1-d7/g7];B[a7-f2/i5])") == ["d1-d7/g7", "a7-f2/i5"]
    assert moves("(;GM[18]SZ[10]W[djddgd];B[ADFIIF])") == ["d1-d7/g7", "a7-f2/i5"]


def test_stones_that_are_set_up_make_the_start_position():
    start = "15/15/15/15/15/15/8x6/6ox7/6o8/15/15/15/15/15/15 b"
    for setup in ("AB[hh][ig]AW[gi][gh]PL[B]", "AB[hh][ig]AW[gi][gh]", ";AB[hh]AB[ig];AW[gh:gi];PL[b]"):
        game = one(f"{GOMOKU}{setup};B[jj];W[kk])")
        assert game.record.variant == start
        assert [gomoku.format_move(action, 15, 15) for action in game.record.actions] == ["j6", "k5"]
    white = one(f"{GOMOKU}RU[Caro]AB[hh];W[ii])").record
    assert white.variant == "15/15/15/15/15/15/15/7x7/15/15/15/15/15/15/15 w caro"
    assert (white.first_name, white.second_name, len(white.actions)) == ("a", "b", 1)
    assert one("(;GM[4]SZ[7:6]AB[ga]AW[af];B[aa])").record.variant == "6x/7/7/7/7/o6 b"


def test_set_up_amazons_make_the_start_position():
    start = amazons.to_fen(amazons.from_fen("4q/5/2*2/3*1/Q4 b"))
    game = one("(;GM[18]SZ[5]PB[b]PW[w]PL[B]RE[B+]AW[ae]AB[ea]AA[cc][dd];B[eaebcb])").record
    assert (game.variant, game.height, len(game.actions)) == (start, 5, 1)
    assert (game.first_name, game.second_name, game.winner) == ("w", "b", "second")
    standard = "AW[ag][jg][dj][gj]AB[ad][jd][da][ga]"
    assert one(f"(;GM[18]{standard};W[djddgd])").record.variant == "standard"
    assert one(f"(;GM[18]{standard}PL[B];B[daddgd])").record.variant.split()[1] == "b"


@pytest.mark.parametrize(("turn", "names"), [("djddgd", ("w", "b")), ("d1-d7/g7", ("b", "w"))])
def test_amazons_names_follow_colours_except_in_littlegolem_turns(turn, names):
    game = one(f"(;GM[18]PB[b]PW[w];W[{turn}])").record
    assert (game.first_name, game.second_name) == names


@pytest.mark.parametrize(
    ("rule", "variant"),
    [
        ("", "freestyle"),
        ("RU[]", "freestyle"),
        ("RU[0]", "freestyle"),
        ("RU[Freestyle]", "freestyle"),
        ("RU[Standard]", "exact"),
        ("RU[Renju]", "renju"),
        ("RU[renju rules]", "renju"),
        ("RU[Caro]", "caro"),
        ("RU[freestyle-4]", "freestyle-4"),
    ],
)
def test_rules_of_gomoku(rule, variant):
    record = one(f"{GOMOKU}{rule};B[hh];W[ii];B[hg];W[ij])").record
    assert (record.variant, len(record.actions)) == (variant, 4)


@pytest.mark.parametrize(("rule", "variant"), [("", "standard"), ("RU[cross]", "cross"), ("RU[Standard]", "standard")])
def test_starts_of_the_amazons(rule, variant):
    start = amazons.initial_state(10, variant)
    turn = amazons.format_move(int(amazons.legal_actions(start)[0]))
    assert one(f"{AMAZONS}{rule};W[{turn}])").record.variant == variant
    assert one(f"(;GM[18]{rule};W[{turn}])").record.width == 10
    cross = one(f"{AMAZONS};W[d10-d9/d8])").record
    assert cross.variant == "cross", "legal from this start alone"


@pytest.mark.parametrize(
    ("text", "winner", "resigned"),
    [
        (f"{GOMOKU}RE[W+R];B[hh];W[ii])", "second", True),
        (f"{GOMOKU}RE[B+R];B[hh];W[ii])", "first", False),
        (f"{GOMOKU}RE[B+T];B[hh];W[ii])", "first", False),
        (f"{GOMOKU}RE[0];B[hh];W[ii])", "draw", False),
        (f"{GOMOKU}RE[?];B[hh];W[ii])", None, False),
        (f"{GOMOKU}{FIVE})", "first", False),
        (f"{GOMOKU}RE[B+]{FIVE})", "first", False),
        (f"{GOMOKU}RE[B+R]{FIVE})", "first", False),
        (f"{GOMOKU};B[hh];W[resign])", "first", True),
        (f"{AMAZONS}RE[W+R]{TURNS})", "first", False),
        (f"{AMAZONS}RE[B+R]{TURNS})", "second", True),
        (f"{AMAZONS}RE[B+]{TURNS})", "second", False),
        (f"{AMAZONS}RE[B+R]{TURNS};W[resign])", "second", True),
        (f"{AMAZONS}{TURNS})", None, False),
    ],
)
def test_results(text, winner, resigned):
    record = one(text).record
    assert (record.winner, record.resigned) == (winner, resigned)


@pytest.mark.parametrize(
    ("text", "reason", "ply", "detail"),
    [
        (f"{GOMOKU};W[hh];B[ii])", "contradiction", 0, "White moves where Black should"),
        (f"{GOMOKU};B[hh];B[ii])", "contradiction", 1, "Black moves where White should"),
        (f"{GOMOKU};B[hh];W[])", "bad_text", 1, "move 2, '', is no move"),
        (f"{GOMOKU};B[hh];W[tt])", "bad_text", 1, "move 2, 'tt', is no move"),
        (f"{GOMOKU};B[hh];W[hh])", "illegal_move", 1, "move 2, hh, is not legal here"),
        (f"{GOMOKU}{FIVE};W[ff])", "illegal_move", 9, "move 10, ff, comes after the end of the game"),
        (f"{GOMOKU};B[resign];W[ff])", "bad_text", 0, "move 1, 'resign', is no move"),
        (f"{GOMOKU};B[hh]W[ii])", "bad_text", 0, "several moves in one node"),
        (f"{GOMOKU};B[hh][ii])", "bad_text", 0, "several moves in one node"),
        (f"{GOMOKU}AB[hh]B[ii])", "bad_text", 0, "a move and pieces that are set up in one node"),
        (f"{GOMOKU};B[hh];AW[ii])", "other_variant", 1, "pieces are set up after the first move"),
        (f"{GOMOKU}AB[hh]AW[hh])", "bad_text", 0, "two pieces on h8"),
        (f"{GOMOKU}AB[hp])", "bad_text", 0, "no point that can be set up: 'hp'"),
        (f"{GOMOKU}AB[hh:])", "bad_text", 0, "no point that can be set up"),
        (f"{GOMOKU}AB[hh][ii])", "other_variant", 0, "2 more black than white stones"),
        (f"{GOMOKU}PL[W];W[hh])", "other_variant", 0, "0 more black than white stones with 'w'"),
        (f"{GOMOKU}PL[x];B[hh])", "bad_text", 0, "PL is no side"),
        (f"{GOMOKU}AE[hh];B[hh])", "other_variant", 0, "AE"),
        (f"{GOMOKU}RU[Pente];B[hh])", "other_variant", -1, "the rule 'Pente'; known are freestyle"),
        (f"{GOMOKU}RE[W+]{FIVE})", "contradiction", 9, "second won by RE, first by the final position"),
        (f"{GOMOKU}RE[0]{FIVE})", "contradiction", 9, "draw won by RE"),
        ("(;GM[4]SZ[26];B[hh])", "other_variant", -1, "a board of 26x26"),
        ("(;GM[4]SZ[15:15:15];B[hh])", "other_variant", -1, "SZ is not a size"),
        (f"{AMAZONS}AW[d1]AB[d10];W[d1-d7/g7])", "bad_text", 0, "no point that can be set up: 'd10'"),
        (f"{AMAZONS}AW[dj]AA[dj];W[djddgd])", "bad_text", 0, "two pieces on d1"),
        (f"{AMAZONS}AE[dj];W[djddgd])", "other_variant", 0, "pieces that are set up by AE are not read"),
        (f"{GOMOKU}AA[dj];B[hh])", "other_variant", 0, "pieces that are set up by AA are not read"),
        ("(;GM[18]SZ[12]AW[dj]AB[aa];W[djddgd])", "other_variant", -1, "no Amazons board of 12x12; sides go to 10"),
        (f"{AMAZONS}PL[B];B[d1-d7/g7])", "other_variant", 0, "PL[B], and no position that is set up"),
        (f"{AMAZONS};B[a7-f2/i5])", "contradiction", 0, "Black moves where White should"),
        (f"{AMAZONS};W[djddgk])", "bad_text", 0, "move 1, 'djddgk', is no move"),
        (f"{GOMOKU};B[hhhhhh])", "bad_text", 0, "move 1, 'hhhhhh', is no move"),
        (f"{AMAZONS};W[d1-d7/g7];B[a7-a7/a7])", "illegal_move", 1, "move 2, a7-a7/a7, is not legal here"),
        (f"{AMAZONS}RU[renju]{TURNS})", "other_variant", -1, "variant 'renju'"),
        (f"{AMAZONS}RE[W+]{TURNS};W[resign])", "contradiction", 2, "first won by RE, second by the resignation"),
        ("(;GM[18]SZ[7];W[d1-d2/d3])", "other_variant", -1, "no Amazons start of size 7"),
        ("(;GM[2];B[hh])", "other_game", -1, "GM['2']"),
    ],
)
def test_unusable_games_are_named(text, reason, ply, detail):
    reject = one(text)
    assert isinstance(reject, Reject)
    assert (reject.reason, reject.ply) == (reason, ply), reject.detail
    assert reject.detail.startswith("game.sgf: ")
    assert detail in reject.detail


def test_names_are_decoded_before_they_are_parsed():
    text = "(;GM[4]CA[Big5]SZ[15]EV[\u6210\u529f]PB[\u8a31]RE[W+R];B[hh];W[ii])"
    record = one(text.encode("big5")).record
    assert (record.event, record.first_name, record.winner, len(record.actions)) == (
        "\u6210\u529f",
        "\u8a31",
        "second",
        2,
    )


def test_a_collection_of_different_games():
    found = parse_games(f"{GOMOKU};B[hh])\n{AMAZONS}{TURNS})(;SZ[9];B[ee])(;)".encode(), 1)
    assert [(game.record.gid, game.record.game, game.record.width) for game in found] == [
        (1, "gomoku", 15),
        (2, "amazons", 10),
        (3, "go", 9),
    ]


def test_variations_are_counted():
    game = one(f"{GOMOKU};B[hh](;W[ii];B[gg])(;W[gg]))")
    assert (game.variations, len(game.record.actions)) == (1, 3)
