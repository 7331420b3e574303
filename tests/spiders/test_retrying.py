import asyncio
from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.settings import Settings

from spiders import retrying
from spiders.retrying import LONGEST_PAUSE_S, BackoffRetryMiddleware


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
    for wish in ("1", "90", "100000", "soon"):
        answer(middleware, Request("http://127.0.0.1/"), 429, **{"Retry-After": wish})
    assert pauses == [2.0, 90.0, LONGEST_PAUSE_S, 2.0]


def test_good_answers_pass_at_once(middleware, pauses):
    assert answer(middleware, Request("http://127.0.0.1/"), 200).status == 200
    assert pauses == []
