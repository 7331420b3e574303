import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json
from pipeline_src.games import amazons
from pipeline_src.report.examples import (
    POSITIONS,
    Candidate,
    Example,
    Panel,
    heat_map,
    likeliest,
    ranks,
    read_examples,
    square_names,
    write_examples,
)
from pipeline_src.report.page import examples, numbered, picture
from pipeline_src.systems.amazons_net.boards import territory

SVG = "{http://www.w3.org/2000/svg}"
AMAZONS = Panel(
    label="arrow",
    board=("q..*", "....", "..Q.", "...."),
    to_play="White",
    last=("a4", "d4"),
    played=("c4",),
    heat={"c2": 0.9, "c4": 0.25, "b1": 0.004},
    candidates=(Candidate(move="c4", probability=0.25),),
    value=0.625,
)
STONES = Panel(label="all", board=(".x.", "o..", "..x"), last=("c1",), texts={"b3": "1", "a2": "2", "c1": "3"})


def shapes(svg, kind):
    return list(ET.fromstring(svg).iter(SVG + kind))


def written(svg):
    """Texts but those of files and ranks, by where they stand."""
    return {
        text.text: (text.get("x"), text.get("y"), text.get("fill")) for text in shapes(svg, "text") if text.get("fill")
    }


def test_a_square_board_has_pieces_heat_and_marks():
    found = picture("amazons", AMAZONS)
    assert found.win_rate == "win rate of White 62 %"
    root = ET.fromstring(found.svg)
    assert (root.get("role"), root.get("aria-label")) == ("img", "arrow; win rate of White 62 %")
    assert root.get("viewBox") == "0 0 144 144"
    assert root.get("width") is root.get("height") is root.get("id") is None
    crowns = [path for path in shapes(found.svg, "path") if path.get("transform")]
    assert [(path.get("transform"), path.get("fill")) for path in crowns] == [
        ("translate(30 30)", "#111"),
        ("translate(86 81) scale(.65)", "#fff"),
    ]
    rects = shapes(found.svg, "rect")[1:]
    heat = {(r.get("x"), r.get("y")): r.get("fill-opacity") for r in rects if r.get("fill-opacity")}
    assert heat == {("72", "72"): "0.95", ("72", "16"): "0.50"}  # 0.4 % is not shown
    assert sum(r.get("stroke") == "#d01010" for r in rects) == 1
    assert sum(r.get("stroke-dasharray") is not None for r in rects) == 2
    assert written(found.svg) == {"90": ("86", "96", "#fff"), "25": ("86", "34", "#111")}


def test_line_board_has_numbered_stones_and_marks_last():
    found = picture("gomoku", STONES)
    assert found.win_rate == ""
    fills = [(c.get("cx"), c.get("cy"), c.get("fill")) for c in shapes(found.svg, "circle")]
    assert fills == [("58", "30", "#111"), ("30", "58", "#fff"), ("86", "86", "#111"), ("86", "86", "none")]
    assert {text: look[2] for text, look in written(found.svg).items()} == {"1": "#fff", "2": "#111", "3": "#fff"}


def changed(panel, **values):
    return panel.model_copy(update=values)


def test_heat_hides_lines_and_is_no_stone():
    panel = changed(STONES, texts={}, heat={"a1": 0.36}, played=("a1",))
    ground, shade = shapes(picture("gomoku", panel).svg, "rect")[1:]
    assert (shade.get("fill-opacity"), ground.get("x")) == ("0.60", shade.get("x"))
    depths = changed(panel, texts={"a1": "2.4"})  # no probability, so no root
    assert shapes(picture("gomoku", depths).svg, "rect")[2].get("fill-opacity") == "0.36"


def test_go_board_has_nine_star_points_and_no_file_i():
    found = picture("go", Panel(label="", board=("." * 19,) * 19, last=("J10",)))
    assert len(shapes(found.svg, "circle")) == 9 + 1
    assert "I" not in [text.text for text in shapes(found.svg, "text")]


HOSTILE = "</svg><script>alert('1')</script> & \"<!--"


@given(st.text(min_size=1))
def test_no_text_of_the_file_becomes_markup(text):
    for hostile in (HOSTILE, text):
        texts = {"b3": hostile}
        svg = picture("gomoku", changed(STONES, label=hostile, texts=texts, value=0.5)).svg
        assert not re.search(r"<(?!/?(svg|rect|path|text|circle)\b)", svg)
        assert svg.count("</svg>") == svg.count("<svg ") == 1
        assert all(svg.count(f"<{kind}") == base.count(f"<{kind}") for kind in ("rect", "path", "text", "circle"))


base = picture("gomoku", changed(STONES, texts={"b3": "1"})).svg


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"heat": {"z9": 0.5}}, "no square 'z9' on this board"),
        ({"played": ["<b>"]}, "no square '<b>'"),
        ({"board": ["<..", "...", "..."]}, "no piece '<' in gomoku"),
        ({"board": ["..", "...", "..."]}, "some are not as long"),
        ({"board": []}, "a board of 0 ranks"),
        ({"heat": {"a1": 1.5}}, "1.5 is no probability"),
        ({"value": -0.1}, "-0.1 is no probability"),
        ({"to_play": "Red"}, "'Red' is not one of White, Black"),
        ({"shade": 1}, "unknown key"),
        ({"label": 3}, "expected str, found 3"),
    ],
)
def test_file_with_other_shape_is_refused_by_name(tmp_path, values, complaint):
    path = tmp_path / POSITIONS
    write_examples(path, [example(STONES)])
    tree = read_json(path)
    tree[0]["panels"][0] |= values
    write_json(path, tree)
    with pytest.raises(ZugwerkError, match=re.escape(complaint)) as error:
        examples(tmp_path)
    assert str(path) in str(error.value)


def test_missing_file_and_file_without_list_are_refused(tmp_path):
    with pytest.raises(ZugwerkError, match=r"reports/positions\.json: no such file; `dvc repro` makes it"):
        examples(tmp_path)
    write_json(tmp_path / POSITIONS, {})
    with pytest.raises(ZugwerkError, match=r"reports/positions\.json: expected a list of examples"):
        examples(tmp_path)


def example(*panels, game="gomoku", **values):
    return Example(system=game, name="one", title="A & B", caption="", game=game, panels=panels, **values)


def test_examples_round_trip_with_numbered_moves(tmp_path):
    made = [example(STONES, moves=("b3", "a2", "c1")), example(AMAZONS, game="amazons")]
    write_examples(tmp_path / POSITIONS, made)
    assert read_examples(tmp_path / POSITIONS) == made
    first, second = examples(tmp_path)
    assert (first.title, first.moves, second.moves) == ("A & B", "1. b3 a2 2. c1", "")
    assert second.pictures[0].candidates == AMAZONS.candidates
    assert numbered(()) == ""


def test_ranks_and_names_of_squares_fit_the_game():
    state = amazons.from_fen("q2*/4/2Q1/4 w")
    assert ranks("amazons", state.board) == AMAZONS.board
    names = square_names("amazons", 4)
    assert (names[0], names[3], names[15]) == ("a1", "d1", "d4")
    assert state.board.ravel()[names.index("c2")] == 3
    assert square_names("gomoku", 4)[0] == "a4"
    assert square_names("go", 9)[-1] == "J1"


def test_heat_is_rounded_and_zero_is_left_out():
    heat = heat_map(["a1", "b1", "c1", "d1"], np.array([0.123456, 0.00004, 0.5, 0.5]))
    assert heat == {"a1": 0.1235, "c1": 0.5, "d1": 0.5}
    assert [one.move for one in likeliest(heat, 2)] == ["c1", "d1"]


def test_territory_borders_on_one_side_only():
    state = amazons.from_fen("Q1*q1/*****/1****/*****/q3Q w")  # a3 is nobody's, b1 to d1 are both sides'
    assert territory(state.board, square_names("amazons", 5)) == {"b5": "White", "e5": "Black"}
