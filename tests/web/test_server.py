"""Who may talk to the server, what it reads and serves, its processes, and the frame of all pages."""

import asyncio
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.websockets import WebSocketDisconnect
from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.players.packaged import FOLDER
from pipeline_src.web import settings
from pipeline_src.web.app import Guard
from pipeline_src.web.engine import Engine, EngineError, Place, Request, Task
from pipeline_src.web.settings import Settings, open_folders
from tests.web.conftest import BASE, PHONE, fits, pool, run, serving

OWN = "127.0.0.1:4210"
ROOT = Path(__file__).parents[2]


def test_own_host_names_are_accepted_and_foreign_ones_refused(client):
    for host in ("127.0.0.1:4210", "localhost:4210", "[::1]:4210", "LOCALHOST"):
        assert client.get("/", headers={"host": host}).status_code == 200, host
    for host in ("evil.example", "evil.example:4210", "127.0.0.1.evil.example", "10.0.0.1:4210", ""):
        answer = client.get("/", headers={"host": host})
        assert (answer.status_code, "not answer to the name" in answer.json()["error"]) == (403, True), host


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


def test_no_file_outside_the_pages_is_served(client):
    for path in ("/../settings.py", "/..%2fsettings.py", "/%2e%2e/app.py", "//etc/passwd", "/..\\x"):
        assert client.get(path).status_code == 404, path


def test_no_page_is_kept_without_asking_again(client):
    answer = client.get("/style.css")
    assert answer.headers["cache-control"] == "no-cache"
    assert client.get("/style.css", headers={"if-none-match": answer.headers["etag"]}).status_code == 304
    assert str(answer.url).startswith(BASE)


def test_files_below_the_folders_are_found_and_no_others(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.txt").write_text("a")
    (inside / "link").symlink_to(outside)
    settings = Settings(folders=open_folders([inside]))
    assert settings.file(str(inside / "a.txt")) == inside.resolve() / "a.txt"
    for name in (outside / "a.txt", inside / "../outside/a.txt", inside / "link/a.txt", inside / "none", "\0", "/", ""):
        with pytest.raises(ZugwerkError, match="no such file below the folders"):
            settings.file(str(name))


def test_port_in_use_and_missing_folder_end_in_one_line(tmp_path):
    def told(*words):
        done = CliRunner().invoke(app, ["web", "--no-browser", *words])
        assert done.exit_code == 1
        return str(done.exception)

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert re.fullmatch(rf"cannot listen at 127.0.0.1, port {port}.*--port.*", told("--port", str(port)))
    assert told("--folder", str(tmp_path / "none")) == f"--folder {tmp_path / 'none'}: no such folder"


def test_a_file_that_is_no_game_ends_the_start(tmp_path):
    (tmp_path / "mine.py").write_text("SIZES = 8\n")
    for game, said in (
        ("hex", "hex: expected a file of rules"),
        (f"{tmp_path}/none.py", f"{tmp_path}/none.py: No such file"),
        (f"{tmp_path}/mine.py", f"{tmp_path}/mine.py: no initial_state"),
    ):
        found = CliRunner().invoke(app, ["web", "--no-browser", "--port", "0", game])
        assert str(found.exception).startswith(said)


@pytest.mark.slow
def test_server_ending_during_an_answer_prints_nothing(tmp_path):
    with serving(tmp_path, stderr=subprocess.PIPE) as process:
        port = int(process.stdout.readline().split()[1].rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as wire:
            head = f"POST /api/play/board HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\ncontent-length: 9\r\n\r\n"
            wire.sendall(head.encode())  # its body never comes
            with socket.create_connection(("127.0.0.1", port)) as other:  # once this is answered, that has begun
                other.sendall(f"GET /api/none HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                assert b"404" in other.recv(4096)
            process.terminate()
            _, said = process.communicate(timeout=240)
    assert said == ""
    assert process.returncode in (0, -15)


def test_files_are_listed_by_name_without_links(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("c.txt", "b/a.txt", "b/d.pt"):
        (tmp_path / name).touch()
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    found = [path.relative_to(tmp_path).as_posix() for path in settings.files_below(tmp_path)]
    assert found == ["c.txt", "b/a.txt", "b/d.pt"]
    assert list(settings.files_below(tmp_path / "none")) == []


def test_files_are_found_while_another_process_renames_a_folder(tmp_path, monkeypatch):
    kept, unfinished = tmp_path / "depth/loss.tsv", tmp_path / "gomoku/01-key/.window.part"
    kept.parent.mkdir(parents=True)
    kept.touch()
    unfinished.mkdir(parents=True)
    scan = os.scandir

    def scanned(folder):
        if str(folder) == str(unfinished):
            unfinished.rename(unfinished.with_name("window"))
        return scan(folder)

    monkeypatch.setattr(os, "scandir", scanned)
    assert list(settings.files_below(tmp_path)) == [kept]


SIDE_BY_SIDE = """
import sys, threading
from pipeline_src.web import play
sys.setswitchinterval(1e-6)
names = ["gomoku", "kernels", "rules", "amazons", "stones"]
wrong = []
threading.excepthook = lambda one: wrong.append(one.exc_value)
def ask(name):
    play.rules()
    __import__(f"pipeline_src.games.{name}")
threads = [threading.Thread(target=ask, args=(name,)) for name in names]
for one in threads: one.start()
for one in threads: one.join()
sys.exit(repr(wrong) if wrong else 0)
"""


def test_concurrent_requests_for_the_games_are_all_answered():
    assert subprocess.run([sys.executable, "-c", SIDE_BY_SIDE]).returncode == 0


def test_the_server_itself_never_imports_torch():
    code = "import pipeline_src.web.app, sys; sys.exit(bool({'torch', 'numba', 'pyarrow'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


PLACE = Place(game="amazons", size=6, variant="standard")


def test_late_stop_does_not_end_next_search():
    async def seconds(late):
        """Of a search that may take 3 s, in the process that has just answered somebody else."""
        begun = asyncio.Event()
        async with pool() as engines:
            first = engines.begin(Task(place=PLACE, player="random"), lambda _: None)
            assert (await first.chosen()).move
            task = Task(place=PLACE, player="alphabeta:movetime=3000")
            second = engines.begin(task, lambda heard: begun.set() if heard.thought else None)
            chosen = asyncio.create_task(second.chosen())
            await begun.wait()
            if late:
                await first.stop()
                await engines._all[0].send(Request(id=first._number))  # as if it had been on its way already
            else:
                await second.stop()
            return (await chosen).thought.seconds

    assert run(seconds(late=True)) > 2
    assert run(seconds(late=False)) < 2


def test_cancelled_request_leaves_no_process_at_work(monkeypatch):
    async def given_up():
        written, send = asyncio.Event(), Engine.send

        async def stuck(engine, request):
            await send(engine, request)
            if not written.is_set():  # the pipe is full
                written.set()
                await asyncio.sleep(60)

        monkeypatch.setattr(Engine, "send", stuck)
        async with pool() as engines:
            task = Task(place=PLACE, player="alphabeta:movetime=600000")
            work = asyncio.create_task(engines.begin(task, lambda _: None).last())
            await written.wait()
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            assert engines.has_room
            async with asyncio.timeout(60):
                return await engines.begin(Task(place=PLACE, player="random"), lambda _: None).chosen()

    assert run(given_up()).move


def test_a_changed_net_is_loaded_again(tmp_path):
    net = tmp_path / "net.lines"
    task = Task(place=Place(game="gomoku", size=15, variant="freestyle"), player=f"zero:{net},simulations=2", key="a/0")

    async def play():
        async with pool() as engines:
            net.write_bytes((FOLDER / "gomoku_zero-15x15-freestyle.lines").read_bytes())
            assert (await engines.begin(task, lambda _: None).chosen()).move
            net.write_bytes((FOLDER / "gomoku_zero-15x15-caro.lines").read_bytes())
            with pytest.raises(EngineError, match="caro"):
                await engines.begin(task, lambda _: None).chosen()

    run(play())


def test_report_may_only_run_its_own_scripts(client, web_folder):
    page = web_folder / "artifacts/reports/index.html"
    page.parent.mkdir(parents=True)
    page.write_text("<h1>The report</h1>")
    answer = client.get("/api/report")
    page.unlink()
    assert answer.text == "<h1>The report</h1>"
    policy = answer.headers["content-security-policy"].split("; ")
    assert {"sandbox allow-popups allow-scripts", "default-src 'none'", "script-src 'unsafe-inline'"} <= {*policy}
    assert not re.search(r"same-origin|connect-src|http|eval|'self'|\*", " ".join(policy))
    missing = client.get("/api/report")
    assert (missing.status_code, missing.text.count("dvc repro report_page")) == (404, 1)


def test_vega_and_the_templates_are_served_by_the_server_itself(client):
    library = client.get("/vega.js")
    assert "vegaEmbed" in library.text
    assert library.headers["content-type"].startswith("text/javascript")
    assert client.get("/charts/linear.json").json()["layer"]
    assert client.get("/charts/none.json").status_code == 404


def test_the_first_page_is_play_and_fits_a_phone(open_page):
    page = open_page("", PHONE)
    page.wait_for_selector(".board")
    assert page.title() == "Play · Zugwerk"
    assert fits(page)


def test_theme_follows_the_system_until_chosen(open_page):
    page = open_page("", color_scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.push("Change between dark and light")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_page_of_the_interface_shows_requests_and_their_messages(open_page):
    page = open_page("docs")
    page.get_by_text("POST /api/analyse/line").click()
    page.get_by_role("button", name="AnalysisRequest").first.click()
    page.see("Text of a player that searches")
    page.fine(PHONE)


def test_missing_page_says_so(open_page):
    page = open_page("#/nowhere")
    page.see("There is no page nowhere.")


def test_menu_opens_the_report_or_says_how_to_make_it(open_page, web_folder):
    page = open_page()
    link = page.get_by_role("link", name="Report", exact=True)
    with page.expect_popup() as opened:
        link.click()
    opened.value.get_by_text("`dvc repro report_page` makes it").wait_for()


def test_examples_of_the_docs_run(server):
    """In curl and in Python: the position, the analysis of two moves, and the game as SGF."""
    curl, python = re.findall(r"```(?:bash|python)\n(.*?)```", (ROOT / "docs/reference/web.md").read_text(), re.DOTALL)
    for command in (["bash", "-euc", curl], [sys.executable, "-c", python]):
        text = command[-1].replace("http://127.0.0.1:4210", server)
        done = subprocess.run([*command[:-1], text], capture_output=True, text=True, timeout=600, check=True)
        assert "7xo6/7x7" in done.stdout or "h9" in done.stdout
        assert "win_rate" in done.stdout or "(1, " in done.stdout
        assert ";B[hh];W[ig];B[hg]" in done.stdout
