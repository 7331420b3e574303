"""`Fetcher`: get pages one by one, from the journal if it has them, else from the site.

Answers that are cut off, and redirects to another page, which Scrapy takes as they are, are refused.
"""

import asyncio
import contextlib
import gzip
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, urlsplit

from scrapy import Request, Spider
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from pipeline_src.records.record import shown
from spiders.pages import NO_ANSWER, PageError
from spiders.store import Journal

T = TypeVar("T")

CUT_OFF = "cut off"  # Flag of an answer whose compressed body has no end
_ENDS = {b"<": b"</html>", b"(": b")", b"[": b"]", b"{": b"}"}  # How pages, records and JSON end, by how they begin
_PART = 1 << 20
ASKED = "a page of the spider's"
"""Key of an `Asked` in the meta of each request of the fetcher; those for robots.txt are Scrapy's."""
API = "api:"  # Prefix of the key of a page of the JSON interface; other keys are paths relative to the base URL
SILENT_LIMIT = 3  # Number of unanswered requests in a row after which the site counts as down
MOST_VISITS = 2  # A page may redirect to another form of itself and back once, and not for ever


@dataclass
class Asked:
    """A page that the spider asks for, and where the site has sent it; all its redirected requests share one."""

    url: str
    optional: Set[str] = frozenset()  # Parameters, as `name=value`, that an address of the same page may lack
    followed: str = ""  # The address that the last redirect led to
    refused: str = ""  # Why the last redirect was not followed; else empty


class FollowSamePage(RedirectMiddleware):
    """Follow a redirect of the spider's pages only to the same page; another one is the answer, and `Asked` has why.

    Scrapy ignores a request that is redirected in a loop or to another host, as it does one that robots.txt forbids.
    """

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        """Follow or refuse a redirect."""
        asked: Asked | None = request.meta.get(ASKED)
        if asked is None:
            followed: Request | Response = super().process_response(request, response)
            return followed
        to = (response.headers.get("Location") or b"").decode("latin-1")
        try:
            followed = super().process_response(request, response)
        except IgnoreRequest:
            asked.refused = f"redirected more than {self.max_redirect_times} times, the last time to {shown(to)}"
            return response
        except ValueError as error:
            asked.refused = f"redirected to {shown(to)}, which is no address ({error})"
            return response
        if isinstance(followed, Request):
            if not same_page(asked.url, followed.url, asked.optional):
                asked.refused = f"redirected to another page, {followed.url}"
            elif [*request.meta.get("redirect_urls", ()), request.url].count(followed.url) >= MOST_VISITS:
                asked.refused = f"redirected in a loop, to {followed.url}"
            else:
                asked.followed = followed.url
                return followed
        elif 300 <= response.status < 400:
            asked.refused = (
                f"redirected with status {response.status} {f'to {shown(to)}' if to else 'without an address'}"
            )
        return response


def same_page(asked: str, other: str, optional: Set[str] = frozenset()) -> bool:
    """Whether an address leads to the page of another one on the same site.

    Scheme, port, ``www.`` and a session in the path may differ. The other address may have more parameters, and lack
    those of ``optional`` (``name=value``), since a list without its number would be another list.
    """
    one, two = urlsplit(asked), urlsplit(other)
    if site_of(asked) != site_of(other) or one.path != two.path.partition(";")[0]:
        return False
    mine, theirs = set(parse_qsl(one.query, True)), set(parse_qsl(two.query, True))
    changed = {name for name, _ in theirs - mine} & {name for name, _ in mine}
    return not changed and {f"{name}={value}" for name, value in mine - theirs} <= optional


def site_of(url: str) -> str:
    """The host of an address, without ``www.``."""
    return (urlsplit(url).hostname or "").removeprefix("www.")


class MarkCutOff:
    """Flag answers whose gzip is damaged or has no end; it must come before Scrapy unpacks them."""

    def process_response(self, request: Request, response: Response) -> Response:  # noqa: ARG002
        """Flag an answer."""
        if (response.headers.get("Content-Encoding") or b"").strip().lower() in (b"gzip", b"x-gzip"):
            try:
                with gzip.GzipFile(fileobj=BytesIO(response.body)) as packed:
                    while packed.read(_PART):
                        pass
            except (OSError, EOFError, zlib.error):
                return response.replace(flags=[*response.flags, CUT_OFF])
        return response


def check_whole(response: Response) -> None:
    """Check that nothing shows that an answer is not all of its page.

    A server that names no length may have died in the middle ("partial" in Scrapy): the end of the text decides then.

    Raises:
        PageError: it is cut off.
    """
    whole = CUT_OFF not in response.flags
    if whole and "partial" in response.flags:
        text = response.body.strip()
        whole = text.lower().endswith(_ENDS.get(text[:1], b""))
    if not whole:
        raise PageError("the answer is cut off")


class FetchError(Exception):
    """A page could not be fetched; the message says why."""

    def __init__(self, url: str, status: int, body: bytes, why: str) -> None:
        super().__init__(f"{url}: {why}")
        self.status = status  # HTTP status, -1 without an answer
        self.body = body  # Body of the answer
        self.why = why


class WayFailed(Exception):  # noqa: N818 - no error if another way works
    """This way of crawling failed; the message says why."""


class Stopped(Exception):  # noqa: N818 - no error
    """The crawl was asked to end."""


class NotKept(Stopped):
    """A page is not in the journal, and the site is not to be asked."""


class Once(Generic[T]):
    """A reader that keeps its result for a body: a large page takes a second."""

    def __init__(self, read: Callable[[bytes], T]) -> None:
        self._read = read
        self._known: list[tuple[bytes, T]] = []

    def __call__(self, body: bytes) -> T:
        """Return the reader's result for the body."""
        if not self._known or self._known[0][0] is not body:
            self._known = [(body, self._read(body))]
        return self._known[0][1]


class Fetcher:
    """Fetch pages by key, keep the valid ones in the journal, and log every request with its time."""

    def __init__(
        self,
        spider: Spider,
        journal: Journal | dict[str, bytes],
        log: Path,
        base_url: str,
        api_url: str,
        optional: Set[str] = frozenset(),
        empty: Iterable[str] = (),
    ) -> None:
        """``optional`` are the parameters that a redirect may leave out (`same_page`), ``empty`` as the attribute."""
        self._spider = spider
        self._optional = optional
        self._journal = journal
        self._log = log
        self._base_url = base_url
        self._api_url = api_url
        self._silent = 0
        self._refused: dict[str, FetchError] = {}
        """Failures by a redirect, which does not change when another way asks for the same page."""
        self.empty = set(empty)
        """Keys of pages whose last answer was another page or nothing, by this crawl or the one before it; they are
        requested only once."""
        self.asked: Counter[str] = Counter()  # Number of pages requested, by kind; a retried one counts once
        self.awaited = 0  # Number of requests that the site has and has not answered; one of robots.txt, too
        self.answered = False  # Whether an answer has come that is not kept yet
        self.stopping = False  # Whether the crawl is to end: no further page is fetched
        self.offline = False  # Whether only pages of the journal are returned
        self.missed = False  # Whether a page was missing in the journal

    def url(self, key: str) -> str:
        """URL of a page."""
        return self._api_url + key.removeprefix(API) if key.startswith(API) else self._base_url + key

    def kept(self, key: str) -> bool:
        """Whether the journal has a page."""
        return key in self._journal

    def begin(self) -> None:
        """Reset the count of unanswered requests, at the beginning of a way."""
        self._silent = 0

    async def page(
        self, kind: str, key: str, read: Callable[[bytes], T], *, keep: bool = True, again: bool = True
    ) -> T:
        """Return the result of ``read``, which raises `PageError` if the body is not that of page ``key``.

        Args:
            kind: kind of page, for the summary.
            key: a path, or `API` and a path.
            read: a reader.
            keep: read it from the journal, and add it; not for pages that may change.
            again: retry if the request fails or the answer is not that page, unless that is so of the last crawl.

        Raises:
            FetchError: no answer or not all of it, another status than 200, a redirect to another page or to one that
                is not to be fetched, or `PageError` from ``read``.
            WayFailed: the site has been silent for a while, or its robots.txt forbids the page.
            Stopped: the crawl is to end; `NotKept`, if only the journal is read and lacks it.
        """
        kept = self._journal.get(key) if keep else None
        if kept is not None:
            await asyncio.sleep(0)  # signals take effect between two pages
            if self.stopping:
                raise Stopped
            with contextlib.suppress(PageError):  # this reader may refuse pages in the journal of an older one
                return read(kept)
        if self.stopping:
            raise Stopped
        if self.offline:
            self.missed = True
            raise NotKept
        if key in self._refused:
            raise self._refused[key]
        self.asked[kind] += 1
        try:
            return await self._ask(key, Once(read), keep, again and key not in self.empty)
        finally:
            self.answered = False

    async def _ask(self, key: str, read: Callable[[bytes], T], keep: bool, again: bool) -> T:
        asked = Asked(self.url(key), self._optional)
        status, body, why = await self._download(key, asked, read, again)
        # A site that redirects does answer, even if nobody does where it redirects to.
        self._silent = self._silent + 1 if status == NO_ANSWER and not asked.followed else 0
        if self._silent >= SILENT_LIMIT:
            raise WayFailed(f"{asked.url} does not answer: {why}")
        if asked.refused:
            self._refused[key] = FetchError(asked.url, status, body, why)
            raise self._refused[key]
        if status != 200:
            raise FetchError(asked.url, status, body, why)
        try:
            value = read(body)
        except PageError as error:
            self.empty.add(key)
            raise FetchError(asked.url, status, body, str(error)) from None
        self.empty.discard(key)
        if keep:
            self._journal[key] = body
        return value

    async def _download(
        self, key: str, asked: Asked, read: Callable[[bytes], object], again: bool
    ) -> tuple[int, bytes, str]:
        """Status, body and, unless the status is 200, the reason; Scrapy retries and redirects."""
        begun = time.time()
        meta = {ASKED: asked} | ({"read": read} if again else {"max_retry_times": 0})
        try:
            response = await self._spider.crawler.engine.download_async(Request(asked.url, meta=meta))
            status, body, why = response.status, response.body, asked.refused or f"status {response.status}"
            if status == 200:
                check_whole(response)
        except IgnoreRequest as error:
            if not asked.followed:
                raise WayFailed(f"{asked.url} is not to be fetched: {error}") from None
            asked.refused = f"redirected to {asked.followed}, which is not to be fetched: {error}"
            status, body, why = 302, b"", asked.refused
        except Exception as error:  # any error of the network, or less than the whole page
            status, body, why = NO_ANSWER, b"", str(error).rstrip(".") or type(error).__name__
            if asked.followed:
                why = f"redirected to {asked.followed}, which does not answer: {why}"
        with open(self._log, "a", encoding="utf-8") as log:
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begun))
            failed = "" if status == 200 else " ".join(why.split())
            log.write(f"{stamp}\t{time.time() - begun:.3f}\t{status}\t{len(body)}\t{key}\t{failed}\n")
        return status, body, why
