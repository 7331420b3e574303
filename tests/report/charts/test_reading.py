import math

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.report.charts.reading import Estimate, metrics, table


def test_a_table_is_read_by_column(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("name,x,low,high\na,1,0.5,2\nb,,,\na,3,1,4\n")
    rows = table(path)
    assert rows.words("name") == ["a", "b", "a"]
    assert rows.numbers("x") == pytest.approx([1, math.nan, 3], nan_ok=True)
    assert [name for name, _ in rows.groups("name")] == ["a", "b"]
    assert dict(rows.groups("name"))["a"].estimates("x") == [Estimate(1, 0.5, 2), Estimate(3, 1, 4)]


def test_a_table_without_rows_is_as_one_not_made_yet(tmp_path):
    path = tmp_path / "a.csv"
    assert table(path) is None
    path.write_text("x,y\n")
    assert table(path) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n3\n", "no table \\(line 3: not as many cells as columns"),
        ("x,y\n1,two\n", "damaged \\(row 1, column 'y': could not convert"),
        ("x,z\n1,2\n", "damaged \\(row 1, column 'y': no such cell"),
    ],
)
def test_what_is_damaged_is_named(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ZugwerkError, match=rf"a\.csv: {message}"):
        table(path).numbers("y")


def test_metrics_are_read_by_key(tmp_path):
    path = tmp_path / "a.json"
    assert metrics(path) is None
    estimates = '{"score": {"value": 0.5, "low": null, "high": 0.75, "n": 3}, "later": {"value": null}}'
    path.write_text(f'{{"a": {estimates}, "rows": [{{"x": 1}}]}}')
    found = metrics(path)
    assert found.keys() == ["a", "rows"]
    assert found.keys("a") == ["score", "later"]
    assert found.keys("b") == []
    estimate = found.estimate("a.score")
    assert (estimate.value, estimate.high) == (0.5, 0.75)
    assert math.isnan(estimate.low)
    assert found.estimate("a.later") is found.estimate("a.none") is found.estimate("b.c") is None
    assert found.rows("rows").numbers("x") == [1]
    assert found.rows("none") is None


@pytest.mark.parametrize(
    "ask",
    [
        lambda found: found.estimate("words"),
        lambda found: found.estimate("words.more"),
        lambda found: found.estimate("odd"),
        lambda found: found.rows("words"),
        lambda found: found.rows("list"),
        lambda found: found.keys("words"),
    ],
)
def test_metrics_of_another_shape_are_refused(tmp_path, ask):
    path = tmp_path / "a.json"
    path.write_text('{"words": "none", "odd": {"value": "much"}, "list": [1]}')
    with pytest.raises(ZugwerkError, match=r"a\.json: damaged \('(words|odd|list)"):
        ask(metrics(path))
