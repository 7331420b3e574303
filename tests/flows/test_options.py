from pathlib import Path

import pytest

from flows import CHECKOUT
from flows.options import LIMIT_MINUTES, RETRIES, parse


def test_the_options_are_the_flow_s_parameters() -> None:
    assert parse("reproduce", "", []) == {
        "targets": None,
        "refresh_crawl": False,
        "limit_minutes": LIMIT_MINUTES,
        "retries": RETRIES,
        "checkout": CHECKOUT,
    }
    given = parse("reproduce", "", ["--target", "a", "--target", "b", "--refresh-crawl", "--checkout", "there"])
    assert (given["targets"], given["refresh_crawl"], given["checkout"]) == (["a", "b"], True, Path("there"))


@pytest.mark.parametrize("wrong", [["--limit-minutes", "0"], ["--limit-minutes", "nan"], ["--retries", "-1"]])
def test_a_wrong_number_names_its_option(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("reproduce", "", wrong)
    assert f"error: {wrong[0]} must be" in capsys.readouterr().err
