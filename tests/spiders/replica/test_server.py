import http.client
import os
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest

from pipeline_src.records.crawl_params import QuirkParams
from spiders.replica.site import NO_QUIRKS, Answer, Moods, choose, fraction
from tests.spiders.sites import ENVIRONMENT, ROOT, games, served, site_of, wait_until, write_records

PAGE = Answer(200, "text/plain", b"\xe9page")


@pytest.fixture
def connection():
    with served(lambda target: PAGE if target == "/x?a=1" else Answer(404, "text/plain", b"")) as (url, _):
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        yield connection
        connection.close()


def test_one_connection_serves_many_pages(connection):
    for _ in range(3):
        connection.request("GET", "/x?a=1")
        answer = connection.getresponse()
        assert (answer.status, answer.read(), answer.headers["Content-Type"]) == (200, b"\xe9page", "text/plain")
        before = connection.sock
    assert connection.sock is before is not None
    connection.request("GET", "/y")
    assert connection.getresponse().read() == b""


def test_head_has_the_length_and_no_body(connection):
    connection.request("HEAD", "/x?a=1")
    answer = connection.getresponse()
    assert (answer.headers["Content-Length"], answer.read()) == ("5", b"")
    connection.request("GET", "/x?a=1")
    assert connection.getresponse().read() == b"\xe9page"


@pytest.mark.parametrize("headers", [{"Connection": "close"}, {"connection": "Close"}])
def test_closes_when_asked_to(connection, headers):
    connection.request("GET", "/x?a=1", headers=headers)
    connection.getresponse().read()
    assert connection.sock is None or connection.sock.recv(1) == b""


def exchange(url, data):
    with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=60) as raw:
        raw.sendall(data)
        raw.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: raw.recv(4096), b""))


def test_old_and_bad_requests():
    with served(lambda target: PAGE) as (url, _):
        assert exchange(url, b"GET / HTTP/1.0\r\n\r\n").endswith(b"\r\n\r\n\xe9page")
        assert exchange(url, b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\n\n").count(b"\xe9page") == 2
        assert exchange(url, b"POST / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 405 ")
        assert exchange(url, b"\x16\x03\x01\r\n").startswith(b"HTTP/1.1 400 ")
        assert exchange(url, b"") == b""


def test_chosen_shares_are_exact_and_keep_when_keys_are_added():
    assert len(choose(range(1000), 0.013, 1, "x")) == 13
    assert choose(range(1000), 0.5, 1, "x") != choose(range(1000), 0.5, 1, "y")
    assert choose(reversed(range(1000)), 0.5, 1, "x") == choose(range(1000), 0.5, 1, "x")
    assert 0.4 < sum(fraction(3, "slow", f"/{i}") < 0.5 for i in range(1000)) / 1000 < 0.6


def test_failing_pages_answer_the_second_time():
    moods = Moods(lambda target: PAGE, QuirkParams(**{**vars(NO_QUIRKS), "failing": 0.5}), 0, ())
    first = [moods(f"/{i}").status for i in range(100)]
    assert set(first) == {200, 500, 503}
    assert [moods(f"/{i}").status for i in range(100)] == [200] * 100
    assert moods("/robots.txt").status == 200


def test_broken_pages_never_answer_and_slow_ones_late():
    quirks = QuirkParams(**{**vars(NO_QUIRKS), "slow": 1.0, "slow_s": 0.05})
    moods = Moods(lambda target: PAGE, quirks, 0, ["/jsp/info/"])
    assert [moods("/jsp/info/player.jsp?plid=1").status for _ in range(3)] == [500] * 3
    begun = time.monotonic()
    assert moods("/jsp/game/game.jsp") == PAGE
    assert time.monotonic() - begun >= 0.05


def command(*args):
    return [sys.executable, "-m", "spiders.replica", *args]


def test_the_process_serves_and_ends_with_its_stdin(tmp_path):
    site_of(games(), tmp_path)
    args = ("--archive", str(tmp_path / "served.parquet"), "--port", "0", "--missing=0.05", "--until-stdin-closes")
    with subprocess.Popen(
        command(*args), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=ENVIRONMENT
    ) as process:
        said = process.stdout.readline().decode()
        assert "serves 42 games as amzn" in said
        connection = http.client.HTTPConnection(urlsplit(said.split()[0]).netloc, timeout=60)
        connection.request("GET", "/robots.txt")
        assert b"User-agent" in connection.getresponse().read()
        connection.close()
        process.stdin.close()
        wait_until(lambda: process.poll() is not None)
        assert process.returncode == 0


@pytest.mark.parametrize("case", ["no archive", "empty archive", "port taken"])
def test_unservable_input_is_reported_in_one_line(tmp_path, case):
    write_records(games()[: 0 if case == "empty archive" else 3], tmp_path / "a.parquet")
    archive = tmp_path / ("none.parquet" if case == "no archive" else "a.parquet")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1] if case == "port taken" else 0
        done = subprocess.run(
            command("--archive", str(archive), "--port", str(port)),
            cwd=ROOT,
            env=os.environ,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert {"no archive": "no such file", "empty archive": "no games", "port taken": "choose another port"}[
        case
    ] in done.stderr
