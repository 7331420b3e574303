import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import build
from pipeline_src.systems.growing_boards.params import GrowingBoard, GrowingEvaluateParams, read_board, read_boards

FIRST = {"size": 6, "generations": 3, "variant": "exact"}


def write(path, larger, first=FIRST):
    path = path / "params.yaml"
    path.write_text(yaml12.dump({"growing_first": first, "growing_larger": larger}))
    return path


def test_boards_in_their_order(tmp_path):
    larger = {"9": {"before": "6", "generations": 4}, "15": {"before": "9", "generations": 5}}
    assert read_boards(write(tmp_path, larger)) == [
        GrowingBoard(6, None, 3, "exact"),
        GrowingBoard(9, 6, 4, "exact"),
        GrowingBoard(15, 9, 5, "exact"),
    ]
    assert read_boards(write(tmp_path, {})) == [GrowingBoard(6, None, 3, "exact")]


@pytest.mark.parametrize(
    ("larger", "complaint"),
    [
        (None, "growing_larger: expected boards by size"),
        (
            {"9": {"before": "7", "generations": 4}},
            'growing_larger.9: expected a board larger than 6, with before: "6"',
        ),
        ({"5": {"before": "6", "generations": 4}}, "growing_larger.5: expected a board larger than 6"),
        ({"big": {"before": "6", "generations": 4}}, "growing_larger.big: expected a board larger than 6"),
        ({"9": {"before": "6", "generations": 0}}, "growing_larger.9: generations must be at least 1"),
        ({"9": {"before": "6"}}, "growing_larger.9.generations: missing"),
        ({"99": {"before": "6", "generations": 4}}, "growing_larger.99: size must be"),
    ],
)
def test_ungrowable_params_are_refused_by_key(tmp_path, larger, complaint):
    with pytest.raises(ZugwerkError) as error:
        read_boards(write(tmp_path, larger))
    assert complaint in str(error.value)
    assert "params.yaml" in str(error.value)


def test_the_first_board_is_checked_too(tmp_path):
    with pytest.raises(ZugwerkError, match="growing_first: size must be"):
        read_boards(write(tmp_path, {}, {"size": 2, "generations": 1}))


def test_one_board_is_read_without_the_sections_of_the_others(tmp_path):
    larger = {"9": {"before": "6", "generations": 4}, "15": {"before": "9"}}  # the last one is malformed
    path = write(tmp_path, larger)
    assert read_board(6, path) == GrowingBoard(6, None, 3, "exact")
    assert read_board(9, path) == GrowingBoard(9, 6, 4, "exact")
    with pytest.raises(ZugwerkError, match=r"growing_larger\.15\.generations: missing"):
        read_board(15, path)
    with pytest.raises(ZugwerkError, match=r"no board of size 7; it has: 6, 9, 15"):
        read_board(7, path)


def test_there_are_openings_for_all_pairs():
    def read(count):
        values = {"pairs": 5, "rated_pairs": 6, "openings": {"count": count}}
        return build(GrowingEvaluateParams, values, "growing_evaluate", "params.yaml")

    assert read(6).openings.count == 6
    with pytest.raises(ZugwerkError, match=r"openings\.count must be at least 6: each is played once"):
        read(5)
