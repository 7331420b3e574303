"""Answers that are cut off, and redirects to another page, which Scrapy takes as they are."""

import gzip
import zlib
from collections.abc import Set
from dataclasses import dataclass
from io import BytesIO
from urllib.parse import parse_qsl, urlsplit

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from pipeline_src.records.rejects import shown
from spiders.pages import PageError

CUT_OFF = "cut off"  # Flag of an answer whose compressed body has no end
_ENDS = {b"<": b"</html>", b"(": b")", b"[": b"]", b"{": b"}"}  # How pages, records and JSON end, by how they begin
_PART = 1 << 20
ASKED = "a page of the spider's"
"""Key of an `Asked` in the meta of each request of the fetcher; those for robots.txt are Scrapy's."""
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
    if _site(one.hostname) != _site(two.hostname) or one.path != two.path.partition(";")[0]:
        return False
    mine, theirs = set(parse_qsl(one.query, True)), set(parse_qsl(two.query, True))
    changed = {name for name, _ in theirs - mine} & {name for name, _ in mine}
    return not changed and {f"{name}={value}" for name, value in mine - theirs} <= optional


def _site(host: str | None) -> str:
    return (host or "").removeprefix("www.")


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
