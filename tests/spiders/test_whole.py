import gzip

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from spiders.fetcher import ASKED, Asked, FollowSamePage, MarkCutOff, check_whole
from spiders.pages import PageError

URL = "http://127.0.0.1/jsp/info/player.jsp?plid=1"
PAGE = b"<html>" + bytes(range(97, 123)) * 40 + b"</html>\r\n"
PACKED = gzip.compress(PAGE, mtime=0)


def fault_of(response):
    try:
        check_whole(response)
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
    assert (whole.body, fault_of(whole)) == (PAGE, "")


@pytest.mark.parametrize(("length", "end"), [(-1, b""), (-9, b""), (40, b""), (-8, b"\0" * 8)])
def test_gzip_that_is_cut_or_damaged_is_noticed(length, end):
    cut = unpacked(PACKED[:length] + end)
    assert PAGE.startswith(cut.body)
    assert fault_of(cut) == "the answer is cut off"


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
    assert fault_of(Response(URL, body=body, flags=["partial"])) == fault
    assert fault_of(Response(URL, body=body)) == ""


SITE = "http://www.site.net/servlet/sgf/7/game7.txt"
LIST = "http://www.site.net/jsp/list.jsp?gtid=amzn&plid=2"


@pytest.mark.parametrize(
    ("asked", "location", "followed"),
    [
        (SITE, "https://www.site.net/servlet/sgf/7/game7.txt", True),
        (SITE, "http://site.net:8080/servlet/sgf/7/game7.txt", True),
        (SITE, "HTTP://WWW.SITE.NET/servlet/sgf/7/game7.txt", True),
        (SITE, "//site.net/servlet/sgf/7/game7.txt", True),
        (SITE, "/servlet/sgf/7/game7.txt?lang=en", True),
        (SITE, "game7.txt?lang=en#top", True),
        (SITE, "?lang=en", True),
        (SITE, "game7.txt;jsessionid=0A1B", True),
        (SITE, "../8/game8.txt", False),
        (SITE, "/jsp/login.jsp?to=/servlet/sgf/7/game7.txt", False),
        (SITE, "http://othersite.net/servlet/sgf/7/game7.txt", False),
        (SITE, "http://login.site.net/servlet/sgf/7/game7.txt", False),
        (SITE, "ftp://www.site.net/servlet/sgf/7/game7.txt", False),
        (SITE, "http://[", False),
        (SITE, None, False),
        (LIST, "list.jsp?plid=2&gtid=amzn&lang=en", True),
        (LIST, "list.jsp?plid=2&gtid=amzn&plid=3", False),
        (LIST, "list.jsp?plid=3&gtid=amzn", False),
        (LIST, "list.jsp?gtid=amzn", False),
        (LIST + "&page=1", LIST, True),
        (LIST + "&page=2", LIST, False),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_follows_redirects_to_the_same_page_only(asked, location, followed, status):
    page = Asked(asked, frozenset({"page=1"}))
    answer = redirected(Request(asked, meta={ASKED: page}), location, status)
    assert isinstance(answer, Request) == followed == bool(page.followed) != bool(page.refused)
    assert followed or answer.status == status


def redirected(request, location, status=302):
    middleware = FollowSamePage.from_crawler(get_crawler(settings_dict={"REDIRECT_MAX_TIMES": 5}))
    headers = {} if location is None else {"Location": location}
    middleware.handle_referer = lambda *_: None
    return middleware.process_response(request, Response(request.url, status=status, headers=headers))


@pytest.mark.parametrize("forms", [["", "?a"], [""], ["", "?a", "?b"]])
def test_a_loop_is_refused_in_its_second_round(forms):
    page, asked = Asked(SITE), []
    answer = Request(SITE, meta={ASKED: page})
    while isinstance(answer, Request):
        asked.append(answer.url)
        answer = redirected(answer, SITE + forms[len(asked) % len(forms)])
    assert "redirected" in page.refused
    assert len(asked) <= 2 * len(forms)


def test_a_redirected_robots_txt_is_scrapys():
    assert isinstance(redirected(Request("http://site.net/robots.txt"), "http://other.net/robots.txt"), Request)
