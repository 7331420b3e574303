import xml.etree.ElementTree as ET

import numpy as np

from pipeline_src.systems.joseki.recommend import Recommendation, board_svg, recommendation_rows

FOUND = [
    Recommendation(0, (72, 60), 6, 0.6, 0.3, 2, 1, ((11, 4), (12, 6))),
    Recommendation(3, (), 4, 0.4, 0.1, 0, 0, ()),
]


def test_rows_have_moves_shares_and_games():
    assert recommendation_rows(FOUND) == [
        {"rank": 1, "corner": "top-left", "move": "Q16 D16", "count": 6, "share": 0.6, "win_rate": 0.6667,
         "games": "11:4 12:6"},
        {"rank": 2, "corner": "bottom-right", "move": "elsewhere", "count": 4, "share": 0.4, "win_rate": "",
         "games": ""},
    ]  # fmt: skip


def test_the_picture_has_stones_last_move_and_shares():
    board = np.zeros((19, 19), np.int8)
    board[3, 3], board[15, 15] = 1, 2
    picture = board_svg(board, FOUND, last=15 * 19 + 15, title="Black & White <3")
    ET.fromstring(picture)
    assert picture.count('fill="#111" stroke') == 1
    assert picture.count('fill="#fff" stroke') == 1
    assert picture.count("#d01010") == 1
    assert picture.count(">60</text>") == 2
    assert "Black &amp; White &lt;3" in picture
    assert picture == board_svg(board, FOUND, last=15 * 19 + 15, title="Black & White <3")
