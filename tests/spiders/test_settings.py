import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.crawl_params import CrawlParams
from spiders.settings import is_loopback, manners

LIVE = "https://www.littlegolem.net"
LOCAL = "http://127.0.0.1:8765"
PARAMS = {
    "base_url": LIVE,
    "api_url": LIVE,
    "contact": "ann@example.org",
    "delay_s": 1.5,
    "timeout_s": 30.0,
    "retries": 3,
    "backoff_s": 2.0,
    "max_failures": 0.05,
    "store": "~/somewhere",
}


def params(**changes):
    return CrawlParams(**(PARAMS | changes))


LOOPBACK = (LOCAL, "http://localhost:1", "http://[::1]:80", "http://127.8.9.1")
FOREIGN = (LIVE, "http://127.0.0.1.example.org", "http://10.0.0.1", "http://localhost.example.org")


def test_loopback():
    assert [is_loopback(url) for url in (*LOOPBACK, *FOREIGN)] == [True] * 4 + [False] * 4


@pytest.mark.parametrize("urls", [(LIVE, LIVE), (LOCAL, LIVE), (LIVE, LOCAL)])
def test_a_foreign_host_is_treated_politely(urls):
    settings = manners(params(), *urls)
    assert settings["DOWNLOAD_DELAY"] == 1.5
    assert settings["RETRY_BACKOFF_S"] == 2.0
    assert "ann@example.org" in settings["USER_AGENT"]


def test_this_machine_needs_no_delay():
    settings = manners(params(contact=""), LOCAL, LOCAL)
    assert settings["DOWNLOAD_DELAY"] == 0.0


@pytest.mark.parametrize("contact", ["", "  "])
def test_no_foreign_host_without_a_contact(contact):
    with pytest.raises(ZugwerkError, match="contact"):
        manners(params(contact=contact), LIVE, LIVE)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"base_url": "www.littlegolem.net"}, "base_url"),
        ({"api_url": "https://api.littlegolem.net/"}, "api_url"),
        ({"base_url": "https://a.example:80000"}, "base_url"),
        ({"delay_s": -1.0}, "delay_s"),
        ({"timeout_s": 0.0}, "timeout_s"),
        ({"retries": -1}, "retries"),
        ({"max_failures": 1.0}, "max_failures"),
        ({"store": ""}, "store"),
    ],
)
def test_bad_params_are_named(changes, named):
    with pytest.raises(ValueError, match=named):
        params(**changes)
