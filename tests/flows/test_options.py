from pathlib import Path

import pytest

from flows import CHECKOUT
from flows.options import LIMIT_MINUTES, RETRIES, parse
from flows.systems import FLOWS
from pipeline_src.project.dvc_run import NO_LIMIT_S
from pipeline_src.project.schedule import cores

reproduce, joseki = FLOWS["reproduce"], FLOWS["joseki"]


def test_the_options_are_the_flow_s_parameters() -> None:
    assert parse(reproduce, []) == {
        "targets": [],
        "jobs": cores(),
        "refresh_crawl": False,
        "limit_minutes": LIMIT_MINUTES,
        "retries": RETRIES,
        "push": True,
        "commit": False,
        "checkout": CHECKOUT,
    }
    given = parse(reproduce, ["--target", "a", "--target", "b", "--refresh-crawl", "--no-push", "--checkout", "there"])
    assert (given["targets"], given["checkout"]) == (["a", "b"], Path("there"))
    assert (given["refresh_crawl"], given["push"]) == (True, False)


def test_an_endless_limit_is_the_longest() -> None:
    assert parse(reproduce, ["--limit-minutes", "inf"])["limit_minutes"] == NO_LIMIT_S / 60


def test_only_a_flow_that_crawls_has_a_crawl_to_refresh() -> None:
    assert parse(reproduce, []).keys() - parse(joseki, []).keys() == {"refresh_crawl"}
    for flow in (reproduce, joseki):
        assert parse(flow, []).keys() == flow.parameters.properties.keys()


@pytest.mark.parametrize(
    "wrong", [["--limit-minutes", "0"], ["--limit-minutes", "nan"], ["--retries", "-1"], ["--jobs", "0"]]
)
def test_a_wrong_number_names_its_option(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(reproduce, wrong)
    assert f"error: {wrong[0]} must be" in capsys.readouterr().err
