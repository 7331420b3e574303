import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import finite
from pipeline_src.report.charts import Metrics, points, table


def test_a_table_is_read_by_column(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("name,x,low,high\na,1,0.5,2\nb,,,nan\n")
    rows = table(path, "x", "low", "high", words=("name",))
    assert finite(rows) == [
        {"name": "a", "x": 1, "low": 0.5, "high": 2},
        {"name": "b", "x": None, "low": None, "high": None},
    ]
    assert points(rows[:1], "x", "x", series="s") == [{"x": 1, "y": 1, "low": 0.5, "high": 2, "series": "s"}]
    assert points(rows[:1], "x", {"low": "l", "high": "h"}) == [
        {"x": 1, "y": 0.5, "series": "l"},
        {"x": 1, "y": 2, "series": "h"},
    ]


def test_a_table_without_rows_counts_as_missing(tmp_path):
    path = tmp_path / "a.csv"
    assert table(path, "x") == []
    path.write_text("x,y\n")
    assert table(path, "x") == []


def test_metrics_are_read_by_key(tmp_path):
    path = tmp_path / "a.json"
    assert Metrics(path).keys() == Metrics(path).rows("rows", "x") == []
    estimates = '{"score": {"value": 0.5, "low": null, "high": 0.75, "n": 3}, "later": {"value": null}}'
    path.write_text(f'{{"a": {estimates}, "rows": [{{"x": 1}}]}}')
    found = Metrics(path)
    assert found.keys() == ["a", "rows"]
    assert found.keys("a") == ["score", "later"]
    assert found.keys("b") == []
    assert finite(found.estimate("a", "score")) == {"value": 0.5, "low": None, "high": 0.75}
    assert found.estimate("a", "later") is found.estimate("a", "none") is found.estimate("b", "c") is None
    assert found.rows("rows", "x") == [{"x": 1}]
    assert found.rows("none", "x") == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda found: found.estimate("words"),
        lambda found: found.estimate("words", "more"),
        lambda found: found.estimate("odd"),
        lambda found: found.rows("words", "x"),
        lambda found: found.rows("list", "x"),
        lambda found: found.keys("words"),
    ],
)
def test_metrics_with_other_shape_are_refused(tmp_path, ask):
    path = tmp_path / "a.json"
    path.write_text('{"words": "none", "odd": {"value": "much"}, "list": [1]}')
    with pytest.raises(ZugwerkError, match=r"a\.json: damaged \((row 1|'words)"):
        ask(Metrics(path))
