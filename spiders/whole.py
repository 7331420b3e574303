"""Answers that are cut off, or another page than the one asked for, which Scrapy takes as they are."""

import gzip
import zlib
from io import BytesIO
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response

from spiders.pages import PageError

CUT_OFF = "cut off"
"""Flag of an answer whose compressed body has no end."""
_ENDS = {b"<": b"</html>", b"(": b")", b"[": b"]", b"{": b"}"}
"""How pages, records and JSON end, by how they begin."""
_PART = 1 << 20


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


def check_whole(asked: str, response: Response) -> None:
    """Check that nothing shows that an answer is not all of the page of the URL ``asked``.

    A server that names no length may have died in the middle ("partial" in Scrapy): the end of the text decides then.

    Raises:
        PageError: another page, or cut off.
    """
    if urlsplit(response.url)[2:4] != urlsplit(asked)[2:4]:
        raise PageError(f"redirected to another page, {response.url}")
    whole = CUT_OFF not in response.flags
    if whole and "partial" in response.flags:
        text = response.body.strip()
        whole = text.lower().endswith(_ENDS.get(text[:1], b""))
    if not whole:
        raise PageError("the answer is cut off")
