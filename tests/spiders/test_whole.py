import gzip

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from spiders.pages import PageError
from spiders.whole import MarkCutOff, check_whole

URL = "http://127.0.0.1/jsp/info/player.jsp?plid=1"
PAGE = b"<html>" + bytes(range(97, 123)) * 40 + b"</html>\r\n"
PACKED = gzip.compress(PAGE, mtime=0)


def fault_of(asked, response):
    try:
        check_whole(asked, response)
    except PageError as error:
        return str(error)
    return ""


def unpacked(body, encoding="gzip"):
    request, response = Request(URL), Response(URL, headers={"Content-Encoding": encoding}, body=body)
    response = MarkCutOff().process_response(request, response)
    return HttpCompressionMiddleware.from_crawler(get_crawler()).process_response(request, response)


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
def test_gzip_that_is_whole_is_left_alone(encoding):
    whole = unpacked(PACKED, encoding)
    assert (whole.body, fault_of(URL, whole)) == (PAGE, "")


@pytest.mark.parametrize(("length", "end"), [(-1, b""), (-9, b""), (40, b""), (-8, b"\0" * 8)])
def test_gzip_that_is_cut_or_damaged_is_noticed(length, end):
    cut = unpacked(PACKED[:length] + end)
    assert PAGE.startswith(cut.body)
    assert fault_of(URL, cut) == "the answer is cut off"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (PAGE, ""),
        (PAGE[:-5], "the answer is cut off"),
        (b"(;W[d1-d7/g7])\r\n", ""),
        (b"(;W[d1-d7/g7]", "the answer is cut off"),
        (b'{"games": []}{"games": []}', ""),
        (b'{"games": [', "the answer is cut off"),
        (b"1. a4 b5", ""),
        (b"", ""),
    ],
)
def test_answer_without_a_length_must_have_an_end(body, fault):
    assert fault_of(URL, Response(URL, body=body, flags=["partial"])) == fault
    assert fault_of(URL, Response(URL, body=body)) == ""


def test_redirects_may_change_the_host_only():
    assert fault_of(URL, Response(URL.replace("http://127.0.0.1", "https://localhost:8"), body=PAGE)) == ""
    for other in ("http://127.0.0.1/jsp/login.jsp", URL.replace("plid=1", "plid=2")):
        assert fault_of(URL, Response(other, body=PAGE)) == f"redirected to another page, {other}"
