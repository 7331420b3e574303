import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.settings import Settings

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.crawl_params import CrawlParams
from spiders import settings as retrying
from spiders.pages import PageError
from spiders.settings import LONGEST_PAUSE_S, BackoffRetryMiddleware, is_loopback, manners

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


@pytest.fixture
def pauses(monkeypatch):
    """What was slept, instead of sleeping."""
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr(retrying.asyncio, "sleep", sleep)
    return slept


@pytest.fixture
def middleware():
    settings = Settings({"RETRY_TIMES": 3, "RETRY_BACKOFF_S": 2.0})
    crawler = SimpleNamespace(settings=settings, stats=SimpleNamespace(inc_value=lambda *_: None))
    crawler.spider = SimpleNamespace(crawler=crawler, name="test")
    return BackoffRetryMiddleware.from_crawler(crawler)


def answer(middleware, request, status=503, **headers):
    return asyncio.run(middleware.process_response(request, Response(request.url, status=status, headers=headers)))


def test_pauses_double_until_the_retries_are_used_up(middleware, pauses):
    request = Request("http://127.0.0.1/")
    for _ in range(3):
        request = answer(middleware, request)
        assert isinstance(request, Request)
    assert answer(middleware, request).status == 503
    assert pauses == [2.0, 4.0, 8.0]


def test_silence_is_retried_too(middleware, pauses):
    again = asyncio.run(middleware.process_exception(Request("http://127.0.0.1/"), TimeoutError()))
    assert again is None or isinstance(again, Request)
    again = asyncio.run(middleware.process_exception(Request("http://127.0.0.1/"), OSError()))
    assert isinstance(again, Request)
    assert pauses[-1] == 2.0


def test_the_server_may_ask_for_more_but_not_for_ever(middleware, pauses):
    for wish in ("1", "90", "100000", "soon", "", "9" * 400, "Wed, 21 Oct 2015 07:28:00 GMT"):
        answer(middleware, Request("http://127.0.0.1/"), 429, **{"Retry-After": wish})
    assert pauses == [2.0, 90.0, LONGEST_PAUSE_S, 2.0, 2.0, LONGEST_PAUSE_S, 2.0]


def test_it_may_name_a_date(middleware, pauses):
    for after in (60, 10**6):
        wish = format_datetime(datetime.now(UTC) + timedelta(seconds=after), usegmt=True)
        answer(middleware, Request("http://127.0.0.1/"), 503, **{"Retry-After": wish})
    assert pauses[0] == pytest.approx(60, abs=5)
    assert pauses[1] == LONGEST_PAUSE_S


def test_an_answer_that_is_not_the_page_is_tried_again(middleware, pauses):
    def read(body):
        if body != b"page":
            raise PageError("an empty answer")

    request = Request("http://127.0.0.1/", meta={"read": read})
    for _ in range(3):
        request = asyncio.run(middleware.process_response(request, Response(request.url)))
        assert isinstance(request, Request)
    empty = Response(request.url)
    assert asyncio.run(middleware.process_response(request, empty)) is empty
    page = Response(request.url, body=b"page")
    assert asyncio.run(middleware.process_response(request, page)) is page
    assert pauses == [2.0, 4.0, 8.0]


def test_good_answers_pass_at_once(middleware, pauses):
    assert answer(middleware, Request("http://127.0.0.1/"), 200).status == 200
    assert pauses == []
