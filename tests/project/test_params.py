from typing import Literal

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import Count, Items, Params, load, load_value


class Inner(Params):
    rate: float


class Section(Params):
    games: Count
    names: Items[str]
    inner: Inner
    limit: int | None = None
    mode: Literal["fast", "slow"] = "fast"


GOOD = "seed: 3\nsection:\n  games: 2\n  names: [a, b]\n  inner: {rate: 1}\n  limit: null\n"


def read(tmp_path, text):
    path = tmp_path / "params.yaml"
    path.write_text(text)
    return load(Section, "section", path)


def test_reads_nested_sections(tmp_path):
    assert read(tmp_path, GOOD) == Section(games=2, names=("a", "b"), inner=Inner(rate=1.0))
    assert load_value(int, "seed", tmp_path / "params.yaml") == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("games: 2", "games: two", "section.games: expected int, found 'two'"),
        ("games: 2", "games: true", "section.games: expected int, found True"),
        ("games: 2", "games: 0", "section: games must be at least 1"),
        ("games: 2", "gmaes: 2", "section.gmaes: unknown key; known: games"),
        ("  games: 2\n", "", "section.games: missing"),
        ("rate: 1", "rate: x", "section.inner.rate: expected float"),
        ("rate: 1", "rat: 1", "section.inner.rat: unknown key"),
        ("[a, b]", "[a, 1]", r"section.names\[1\]: expected str"),
        ("limit: null", "mode: medium", "section.mode: 'medium' is not one of fast, slow"),
        ("section:", "other:", "'section' is missing"),
        ("seed: 3", "seed: [", "not valid YAML"),
        ("seed: 3", "seed: 3\nseed: 4", "not valid YAML: key 'seed' occurs twice"),
        (GOOD, "- 1\n", "expected sections with keys, found list"),
    ],
)
def test_errors_name_file_and_key(tmp_path, old, new, message):
    with pytest.raises(ZugwerkError, match=message) as error:
        read(tmp_path, GOOD.replace(old, new))
    assert "params.yaml" in str(error.value)


def test_missing_file_says_where_to_run(tmp_path):
    with pytest.raises(ZugwerkError, match="no such file"):
        load(Section, "section", tmp_path / "params.yaml")
