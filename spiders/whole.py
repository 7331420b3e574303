"""Answers that are cut off, or another page than the one asked for, which Scrapy takes as they are."""

import gzip
import zlib
from io import BytesIO
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response

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


def fault_of(asked: str, response: Response) -> str:
    """Describe why an answer with status 200 is not all of the page of the URL ``asked``; empty if nothing shows it.

    A server that names no length may have died in the middle ("partial" in Scrapy): the end of the text decides then.
    """
    if urlsplit(response.url)[2:4] != urlsplit(asked)[2:4]:
        return f"redirected to another page, {response.url}"
    text = response.body.strip().lower()
    ended = text.endswith(_ENDS.get(text[:1], b""))
    if CUT_OFF in response.flags or ("partial" in response.flags and not ended):
        return "the answer is cut off"
    return ""
