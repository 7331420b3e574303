"""Scrapy's retries, with a pause before each that doubles."""

import asyncio

from scrapy import Request
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.http import Response

LONGEST_PAUSE_S = 300.0


class BackoffRetryMiddleware(RetryMiddleware):
    """Waits before it lets a request be tried again: RETRY_BACKOFF_S, then twice that, and so on.

    A longer ``Retry-After`` of the server counts, up to five minutes.
    """

    async def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        """Retry an answer that is worth it."""
        again = super().process_response(request, response)
        if isinstance(again, Request):
            await self._pause(again, response.headers.get("Retry-After", b""))
        return again

    async def process_exception(self, request: Request, exception: Exception) -> Request | Response | None:  # type: ignore[override]
        """Retry where no answer came."""
        again = super().process_exception(request, exception)
        if isinstance(again, Request):
            await self._pause(again, b"")
        return again

    async def _pause(self, again: Request, wish: bytes | None) -> None:
        pause = self.crawler.settings.getfloat("RETRY_BACKOFF_S") * 2.0 ** (again.meta["retry_times"] - 1)
        if wish and wish.isdigit() and pause:
            pause = max(pause, float(wish))
        await asyncio.sleep(min(pause, LONGEST_PAUSE_S))
