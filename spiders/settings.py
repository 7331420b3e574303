"""Scrapy's middlewares and settings: polite defaults for all of `scrapy` in this project, and those from the params.

Retries come after pauses that double, also for answers with status 200 that are not the page. Politeness is a contact
in the user agent, robots.txt, and pauses between requests.
"""

import asyncio
import logging
import re
import time
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.robotstxt import RobotParser

from pipeline_src import __version__
from pipeline_src.errors import ZugwerkError
from pipeline_src.records.crawl_params import CrawlParams
from spiders.fetcher import check_whole, site_of
from spiders.pages import PageError
from spiders.spider import GameSpider

ROBOT = "zugwerk"  # Name in the user agent, and for robots.txt


def user_agent(contact: str) -> str:
    """The user agent, with a mail address or page as contact."""
    return f"{ROBOT}/{__version__} (+{contact})"


NOBODY = user_agent("loopback only")  # A user agent without a contact, with which `Manners` asks only this machine

BOT_NAME = ROBOT
SPIDER_MODULES = ["spiders.spider"]
USER_AGENT = NOBODY
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = BOT_NAME
CONCURRENT_REQUESTS = 1
DOWNLOAD_DELAY = 1.0
RETRY_BACKOFF_S = 1.0
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_DELAY_JITTER = 0  # would make half of the delays shorter
COOKIES_ENABLED = False
REFERER_ENABLED = False
DEFAULT_REQUEST_HEADERS = {"Accept-Encoding": "gzip"}  # the one whose end `MarkCutOff` checks
METAREFRESH_ENABLED = False
REDIRECT_MAX_TIMES = 5
TELNETCONSOLE_ENABLED = False
MEMUSAGE_ENABLED = False
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "spiders.settings.BackoffRetryMiddleware": 550,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "spiders.fetcher.FollowSamePage": 600,
    "spiders.fetcher.MarkCutOff": 605,  # before HttpCompressionMiddleware, which is at 590
    "spiders.settings.Manners": 610,  # nearest to the site, so that it sees each answer first
}
LOG_LEVEL = "INFO"

LOCAL = ("file", "data")  # Schemes of pages that are on this machine
LOOPBACK_BACKOFF_S = 0.02
LONGEST_PAUSE_S = 300.0  # Longest pause before a retry
LONGEST_DELAY_S = 60.0  # Longest pause in seconds for a slow site; its robots.txt may ask for more
COME_BACK_LATER = (408, 429)  # Statuses below 500 that count as server errors


def manners(params: CrawlParams, base_url: str, api_url: str) -> dict[str, Any]:
    """The settings that depend on the params, and on whether a foreign host is crawled.

    Raises:
        ZugwerkError: a foreign host, and no contact.
    """
    settings: dict[str, Any] = {
        "USER_AGENT": user_agent(params.contact) if params.contact else NOBODY,
        "DOWNLOAD_TIMEOUT": params.timeout_s,
        "RETRY_TIMES": params.retries,
    }
    if is_loopback(base_url) and is_loopback(api_url):
        return settings | {"DOWNLOAD_DELAY": 0.0, "RETRY_BACKOFF_S": LOOPBACK_BACKOFF_S, "HTTPPROXY_ENABLED": False}
    if not params.contact.strip():
        raise ZugwerkError(
            "params.yaml: crawl.contact is empty; set a mail address or page by which the site can reach you before "
            f"you crawl {base_url}"
        )
    return settings | {"DOWNLOAD_DELAY": params.delay_s, "RETRY_BACKOFF_S": params.backoff_s}


def is_loopback(url: str) -> bool:
    """Whether a URL's host is this machine, by its name or number, without a look-up."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


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


class Manners(RobotsTxtMiddleware):
    """Obey robots.txt (RFC 9309) and its Crawl-delay; pace the requests to each site, whose addresses share a pause.

    A request follows the last answer after DOWNLOAD_DELAY seconds, the host's Crawl-delay, or, unless both are 0, the
    time that the host took to answer, whichever is longest. A robots.txt that fails with a server error or does not
    come forbids everything for now; a missing one forbids nothing. With a user agent without a contact, only this
    machine is asked, also for robots.txt.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._robot = crawler.settings["ROBOTSTXT_USER_AGENT"]
        self._nobody = crawler.settings["USER_AGENT"] == NOBODY
        self._delay = crawler.settings.getfloat("DOWNLOAD_DELAY")
        self._asked: dict[str, float] = {}  # Crawl-delay in seconds by host and port
        self._last: dict[str, float] = {}  # When a site was last asked or last answered, on the monotonic clock
        self._pause: dict[str, float] = {}  # Seconds from then to its next request
        self._away: dict[str, str] = {}  # Failure in place of a robots.txt, by host and port

    async def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Fetch the host's robots.txt, refuse requests that it forbids, and pause before others.

        Raises:
            IgnoreRequest: no contact for a foreign host; or see `process_request_2`.
        """
        if urlsplit(request.url).scheme in LOCAL:
            return
        if self._nobody and not is_loopback(request.url):
            why = (
                f"{request.url} is not asked for: the user agent names no contact. Give one, such as "
                f"-s USER_AGENT='{user_agent('you@example.org')}'; `scrapy crawl` takes crawl.contact of params.yaml"
            )
            logging.getLogger(__name__).error(why)  # Scrapy's commands do not report ignored requests
            raise IgnoreRequest(why)
        await super().process_request(request)
        site = site_of(request.url)
        await asyncio.sleep(self._last.get(site, 0.0) + self._pause.get(site, self._delay) - time.monotonic())
        self._last[site] = time.monotonic()

    def process_request_2(self, rp: RobotParser | None, request: Request) -> None:
        """Refuse a request that the host forbids.

        Raises:
            IgnoreRequest: robots.txt forbids the page, or is unavailable.
        """
        if why := self._away.get(urlsplit(request.url).netloc):
            raise IgnoreRequest(f"its robots.txt {why}, which asks to stay away; run again later")
        super().process_request_2(rp, request)

    def process_response(self, request: Request, response: Response) -> Response:
        """Begin the pause before the next request, which a redirect may wish to be longer."""
        wish = seconds_of(response.headers.get("Retry-After")) if 300 <= response.status < 400 else 0.0
        self._pace(request, min(wish, LONGEST_PAUSE_S))
        return response

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        if response.status >= 500 or response.status in COME_BACK_LATER:
            self._away[netloc] = f"answers with status {response.status}"
        rules = response if response.status == 200 else response.replace(body=b"")  # an error page has none
        await super()._parse_robots(rules, netloc, request)
        parser = self._parsers[netloc]
        delay = parser.crawl_delay(self._robot) if isinstance(parser, RobotParser) else None
        self._asked[netloc] = delay or 0.0
        self._pace(request)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        self._away[netloc] = f"does not come ({str(exc).rstrip('.') or type(exc).__name__})"
        super()._robots_error(exc, netloc)

    def _pace(self, request: Request, least: float = 0.0) -> None:
        site = site_of(request.url)
        self._last[site] = time.monotonic()
        latency = request.meta.get("download_latency", 0.0) if self._delay else 0.0
        asked = self._asked.get(urlsplit(request.url).netloc, 0.0)
        self._pause[site] = max(self._delay, min(latency, LONGEST_DELAY_S), asked, least)
