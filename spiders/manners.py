"""Politeness towards a site: a contact in the user agent, robots.txt, and pauses between requests."""

import logging
from ipaddress import ip_address
from time import monotonic
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.robotstxt import RobotParser

from pipeline_src import __version__
from spiders.retrying import LONGEST_PAUSE_S, seconds_of

ROBOT = "zugwerk"  # Name in the user agent, and for robots.txt


def user_agent(contact: str) -> str:
    """The user agent, with a mail address or page as contact."""
    return f"{ROBOT}/{__version__} (+{contact})"


NOBODY = user_agent("loopback only")  # A user agent without a contact, with which `Manners` asks only this machine
LONGEST_DELAY_S = 60.0  # Longest pause in seconds for a slow site; its robots.txt may ask for more
COME_BACK_LATER = (408, 429)  # Statuses below 500 that count as server errors


def is_loopback(url: str) -> bool:
    """Whether a URL's host is this machine, by its name or number, without a look-up."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Manners(RobotsTxtMiddleware):
    """Obey robots.txt (RFC 9309) and its Crawl-delay; pace the requests to each host.

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
        self._away: dict[str, str] = {}  # Failure in place of a robots.txt, by host and port

    async def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Fetch the host's robots.txt, and refuse requests that it forbids.

        Raises:
            IgnoreRequest: no contact for a foreign host; or see `process_request_2`.
        """
        if self._nobody and not is_loopback(request.url):
            why = (
                f"{request.url} is not asked for: the user agent names no contact. Give one, such as "
                f"-s USER_AGENT='{user_agent('you@example.org')}'; `scrapy crawl` takes crawl.contact of params.yaml"
            )
            logging.getLogger(__name__).error(why)  # Scrapy's commands do not report ignored requests
            raise IgnoreRequest(why)
        # One queue for all addresses of a site, so that a redirect to another one waits, too.
        request.meta.setdefault("download_slot", (urlsplit(request.url).hostname or "").removeprefix("www."))
        await super().process_request(request)

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
        slot = self.crawler.engine.downloader.slots.get(request.meta["download_slot"])
        if slot is None:
            return
        slot.lastseen = monotonic()
        latency = request.meta.get("download_latency", 0.0) if self._delay else 0.0
        asked = self._asked.get(urlsplit(request.url).netloc, 0.0)
        slot.delay = max(self._delay, min(latency, LONGEST_DELAY_S), asked, least)
