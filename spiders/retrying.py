"""Scrapy's retries, after pauses that double, also for answers with status 200 that are not the page."""

import asyncio
import re
import time
from email.utils import parsedate_to_datetime

from scrapy import Request
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.http import Response

from spiders.pages import PageError
from spiders.spider import GameSpider
from spiders.whole import check_whole

LONGEST_PAUSE_S = 300.0


class BackoffRetryMiddleware(RetryMiddleware):
    """Wait before each retry: RETRY_BACKOFF_S, then twice that, and so on.

    A longer ``Retry-After`` of the server counts, up to five minutes. An answer with status 200 that is not all of its
    page (`check_whole`), or that ``meta["read"]`` of its request refuses with a `PageError`, is tried again likewise.
    """

    async def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        """Retry a failed answer."""
        again = super().process_response(request, response)
        if again is response and response.status == 200 and "read" in request.meta:
            try:
                check_whole(response)
                request.meta["read"](response.body)
            except PageError as error:
                kind = re.split(r"[,(:]", str(error))[0].strip()  # a row of Scrapy's stats each, so without details
                again = self._retry(request, kind) or response
        if isinstance(again, Request):
            await self._pause(again, response.headers.get("Retry-After", b""))
        return again

    async def process_exception(self, request: Request, exception: Exception) -> Request | Response | None:  # type: ignore[override]
        """Retry without an answer."""
        again = super().process_exception(request, exception)
        if isinstance(again, Request):
            await self._pause(again, b"")
        return again

    async def _pause(self, again: Request, wish: bytes | None) -> None:
        if isinstance(self.crawler.spider, GameSpider):
            self.crawler.spider.fetch.answered = False  # a crawl that is to end does not wait for this
        pause = self.crawler.settings.getfloat("RETRY_BACKOFF_S") * 2.0 ** (again.meta["retry_times"] - 1)
        await asyncio.sleep(min(max(pause, seconds_of(wish) if pause else 0.0), LONGEST_PAUSE_S))


def seconds_of(wish: bytes | None) -> float:
    """Seconds of a ``Retry-After``, a number or a date; otherwise 0."""
    text = (wish or b"").decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return 0.0
