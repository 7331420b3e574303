"""Who may talk to the server."""

import pytest
from starlette.websockets import WebSocketDisconnect

from pipeline_src.web.guard import Guard
from tests.web.conftest import BASE

OWN = "127.0.0.1:4210"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:4210", "127.0.0.1.evil.example", "10.0.0.1:4210", ""])
def test_foreign_host_name_is_refused(client, host):
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 403
    assert "does not answer to the name" in answer.json()["error"]


@pytest.mark.parametrize("host", ["127.0.0.1:4210", "localhost:4210", "[::1]:4210", "LOCALHOST"])
def test_own_host_names_are_accepted(client, host):
    assert client.get("/", headers={"host": host}).status_code == 200


def test_web_socket_without_a_page_is_closed(client):
    for path in ("nothing", "charts/linear.json", "api/nothing"):
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(f"ws://{OWN}/{path}"):
            pass


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "file://"])
def test_page_from_another_origin_is_refused(client, origin):
    assert client.post("/api/play/games", json={}, headers={"origin": origin}).status_code == 403
    wire = client.websocket_connect("ws://127.0.0.1:4210/api/play/games/x/socket", headers={"origin": origin})
    with pytest.raises(WebSocketDisconnect) as refused, wire:
        pass
    assert refused.value.code == 1008


def test_requests_from_other_sites_are_refused_but_links_work(client):
    other = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert client.get("/icon.svg", headers=other).status_code == 403
    assert client.get("/", headers=other | {"sec-fetch-mode": "navigate"}).status_code == 200
    assert client.post("/", headers=other | {"sec-fetch-mode": "navigate"}).status_code == 403


def test_public_server_answers_to_addresses_and_its_name():
    guard = Guard(None, "0.0.0.0")
    for host in ("192.168.1.7:4210", "[fe80::1]:4210", "localhost"):
        assert not guard.refusal("http", "GET", {"host": host})
    assert guard.refusal("http", "GET", {"host": "evil.example"})


def test_every_answer_allows_its_own_scripts_alone(client):
    for path in ("/", "/app.js", "/api/none"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


def test_large_body_is_refused_with_or_without_length(client):
    told = client.post("/api/play/games", content=b"x" * (9 << 20))
    assert told.status_code == 413
    untold = client.post("/api/play/games", content=(b"x" * (1 << 20) for _ in range(9)))
    assert untold.status_code == 413
    assert "8 MiB" in untold.json()["error"]


@pytest.mark.parametrize("path", ["/../settings.py", "/..%2fsettings.py", "/%2e%2e/app.py", "//etc/passwd", "/..\\x"])
def test_no_file_outside_the_pages_is_served(client, path):
    assert client.get(path).status_code == 404


def test_no_page_is_kept_without_asking_again(client):
    answer = client.get("/style.css")
    assert answer.headers["cache-control"] == "no-cache"
    assert client.get("/style.css", headers={"if-none-match": answer.headers["etag"]}).status_code == 304
    assert str(answer.url).startswith(BASE)
