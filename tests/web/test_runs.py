"""The page Runs: figures over versions, curves under way, generations, the report; and the page in a browser."""

import json
import os
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pipeline_src.web import runs
from pipeline_src.web.late import Late
from pipeline_src.web.run_files import curve_files, growing_generations, read_curve
from pipeline_src.web.settings import Settings
from tests.report.project import estimate, git, make_project
from tests.web.conftest import BASE, PHONE, TestClient, ask, fits, violations

SCORE = "amazons_net.score_vs_random"
LIVE = "work/amazons_train/x-1/live/plots/metrics/train/loss.tsv"
GENERATION = {
    "gate": {"accepted": 0, "score": estimate(0.4, 0.2, 0.6)},
    "self_play": {"games": 30, "mean_plies": 12.5},
    "train": {"loss": 2.5},
}


@pytest.fixture(scope="session")
def project(web_folder):
    """The server's folder is a project, with a training under way and two generations."""
    make_project(web_folder)
    live = web_folder / LIVE
    live.parent.mkdir(parents=True)
    live.write_text("step\tloss\n1\t3.5\n2\t3.25\n3\t3.")  # half written, and yet a number
    train = web_folder / "artifacts/reports/amazons/train"
    train.mkdir(parents=True)
    (train / "residual.csv").write_text("epoch,train_loss,rate\n1,2.5,\n2,2.0,0.1\n")
    generations = web_folder / "artifacts/reports/gomoku/generations"
    generations.mkdir(parents=True)
    for number in (1, 2):
        (generations / f"0{number}.json").write_text(json.dumps(GENERATION))
    (generations / "01.timings.json").write_text(json.dumps({"seconds": {"self_play": 2.0, "train": 1.0}}))
    (generations / "03.json").write_text("{")
    boards = web_folder / "artifacts/reports/growing/boards"
    boards.mkdir(parents=True)
    (boards / "6.csv").write_text("generation,games,mean_plies,loss,gate_score\n1,40,9.5,3.0,0.75\n")
    (web_folder / "artifacts/reports/index.html").write_text("<h1>The report</h1>")
    return web_folder


def test_figures_of_the_working_tree_and_of_every_version(client, project):
    about = ask(client, "runs/project")
    assert (about["problem"], about["report"]) == ("", True)
    rows = {f"{one['system']}.{one['name']}": one for one in ask(client, "runs/figures")["figures"]}
    assert rows[SCORE]["ours"]["value"] == 0.8
    assert (rows[SCORE]["ours"]["low"], rows[SCORE]["ours"]["source"]) == (0.7, "graph")
    assert rows["amazons_net.games"]["published"] == 25_000
    found = ask(client, "runs/versions")["versions"]
    assert [one["subject"] for one in found if not one["name"]] == ["One <script>alert(1)</script>", "Two"]
    assert [one["name"] for one in found if one["name"]] == ["wide"]
    values = {
        one["commit"]: ask(client, "runs/version", commit=one["commit"])["figures"][SCORE]["value"] for one in found
    }
    assert values == {git(project, "rev-parse", "HEAD~1"): 0.2, git(project, "rev-parse", "HEAD"): 0.8}


def test_own_figure_comes_first_then_committed_one(tmp_path):
    project = make_project(tmp_path.resolve())
    (project / "docs/measured").mkdir(parents=True)
    (project / "docs/measured/amazons_net.json").write_text(json.dumps({"games": estimate(9, None, None)}))
    with TestClient(Late(Settings(folders=(project,))), base_url=BASE) as client:
        rows = {one["name"]: one for one in ask(client, "runs/figures")["figures"] if one["system"] == "amazons_net"}
        (newest,) = (one for one in ask(client, "runs/versions")["versions"] if one["subject"] == "Two")
        version = ask(client, "runs/version", commit=newest["commit"])["figures"]
    games, score = rows["games"], rows["score_vs_random"]
    assert (games["ours"]["value"], games["ours"]["source"]) == (5, "graph")
    assert (games["measured"]["value"], games["measured"]["source"]) == (9, "measured")
    assert (score["ours"]["source"], score["measured"]) == ("graph", None)
    assert rows["turn_top1"]["ours"]["value"] is None
    assert version["amazons_net.games"] == {"value": 5, "low": None, "high": None, "source": "graph"}


def test_curves_under_way_come_first(client, project):
    found = ask(client, "runs/curves")["curves"]
    assert (found[0]["title"], found[0]["under_way"]) == ("amazons_train/x-1/live", True)
    assert {one["title"] for one in found if not one["under_way"]} == {"amazons/train/residual", "growing/boards/6"}
    live = ask(client, "runs/curve", name=found[0]["name"])
    assert live["x"] == "step"
    assert live["series"] == {"train/loss": [[1, 3.5], [2, 3.25], [3, 3]]}
    done = ask(client, "runs/curve", name="artifacts/reports/amazons/train/residual.csv")
    assert done["series"] == {"train_loss": [[1, 2.5], [2, 2]], "rate": [[2, 0.1]]}


def test_where_nothing_has_run_the_committed_trainings_are_shown(tmp_path):
    kept = tmp_path / "docs/measured/laptop"
    for name in ("amazons/train/residual.csv", "growing/boards/6.csv"):
        (kept / name).parent.mkdir(parents=True)
        (kept / name).write_text("step,generation,games,loss,gate_score\n1,1,40,3.0,0.5\n")
    (tmp_path / "artifacts/reports").mkdir(parents=True)
    (tmp_path / "artifacts/reports/amazons.headlines.json").write_text("{}")  # git has it in every checkout
    found = {one.name for one in curve_files(tmp_path)}
    assert found == {"docs/measured/laptop/amazons/train/residual.csv", "docs/measured/laptop/growing/boards/6.csv"}
    assert read_curve(tmp_path, "docs/measured/laptop/amazons/train/residual.csv").series["loss"] == ((1.0, 3.0),)
    assert [one.games for one in growing_generations(tmp_path)] == [40]
    (tmp_path / "artifacts/reports/depth").mkdir()
    assert curve_files(tmp_path) == growing_generations(tmp_path) == []


def test_generations_without_the_damaged_one(client, project):
    found = ask(client, "runs/generations")
    assert [(one["number"], one["gate"], one["accepted"], one["seconds"]) for one in found["gomoku"]] == [
        (1, 0.4, False, 3.0),
        (2, 0.4, False, None),
    ]
    (one,) = found["growing"]
    assert (one["board"], one["games"], one["loss"]) == ("6x6", 40, 3.0)


class Prefect(BaseHTTPRequestHandler):
    """Answers as Prefect's server does when it is asked for the run that was started last."""

    runs = b"[]"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert (self.path, asked["sort"], asked["limit"]) == ("/api/flow_runs/filter", "START_TIME_DESC", 1)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.runs)

    def log_message(self, *_):
        pass


def test_prefects_last_run_is_named_where_its_server_answers(client, project, monkeypatch):
    monkeypatch.setattr(runs, "PREFECT_S", 30.0)
    run = {"id": "8a5f60f4-6ba1-4c2e-9d0b-6f4f0b6a9a11", "name": "wise-otter", "state_name": "Running"}
    with ThreadingHTTPServer(("127.0.0.1", 0), Prefect) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("PREFECT_API_URL", f"{address}/api")
        own = {"name": run["name"], "state": run["state_name"], "url": f"{address}/runs/flow-run/{run['id']}"}
        pages = {"url": f"{address}/runs"}
        for said, shown in (
            ([], pages | {"last": None}),
            ([run], pages | {"last": own}),
            ([run | {"id": "../../evil"}], None),
            ([3], None),
            ("no runs", None),
        ):
            monkeypatch.setattr(Prefect, "runs", json.dumps(said).encode())
            assert ask(client, "runs/project")["prefect"] == shown
        server.shutdown()
    assert ask(client, "runs/project")["prefect"] is None


def test_vega_and_the_templates_are_served_by_the_server_itself(client):
    library = client.get("/vega.js")
    assert "vegaEmbed" in library.text
    assert library.headers["content-type"].startswith("text/javascript")
    assert client.get("/charts/linear.json").json()["layer"]
    assert client.get("/charts/none.json").status_code == 404


def test_the_report_may_only_run_its_own_scripts(client, project):
    answer = client.get("/api/runs/report")
    assert answer.text == "<h1>The report</h1>"
    policy = answer.headers["content-security-policy"].split("; ")
    assert {"sandbox allow-popups allow-scripts", "default-src 'none'", "script-src 'unsafe-inline'"} <= {*policy}
    assert not re.search(r"same-origin|connect-src|http|eval|'self'|\*", " ".join(policy))


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("curve", {"name": "../../etc/passwd"}),
        ("curve", {"name": "params.yaml"}),
        ("version", {"commit": "HEAD"}),
        ("version", {"commit": "--all"}),
    ],
)
def test_no_other_file_and_no_other_word_for_git(client, project, path, query):
    ask(client, f"runs/{path}", 400, **query)


def test_unknown_commit_is_reported(client, project):
    assert "git knows no revision" in ask(client, "runs/version", commit="0" * 40)["problem"]


def test_the_page_by_mouse_and_keyboard(open_page, project):
    page = open_page("#/runs")
    page.get_by_role("button", name="Amazons-Net: score against the random player").click()
    page.get_by_text(re.compile("^3 versions")).wait_for()
    chart = page.get_by_role("slider", name="The figure over the versions of the project")
    chart.locator("svg .mark-line path").first.wait_for(state="attached")
    chart.focus()
    page.keyboard.press("Home")
    assert "<script>alert(1)</script>" in chart.get_attribute("aria-valuetext")
    assert "0.2 (0.1 to 0.3)" in chart.get_attribute("aria-valuetext")
    page.keyboard.press("End")
    assert "now, in the working tree" in chart.get_attribute("aria-valuetext")
    chart.click(position={"x": 70, "y": 100})
    assert "0.2 (0.1 to 0.3)" in chart.get_attribute("aria-valuetext")
    gate = page.get_by_role("slider", name="Score of each generation against the best one before")
    assert gate.locator("svg text", has_text="100%").count() == 1
    page.get_by_label("Training", exact=True).select_option(label="amazons/train/residual")
    page.get_by_label("rate").check()
    page.get_by_label("6x6").check()
    page.get_by_text("1 generations, 40 games").wait_for()
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_page_shows_interrupted_and_resumed_training(open_page, project):
    loss, hour_ago = project / LIVE, time.time() - 3600
    os.utime(loss, (hour_ago, hour_ago))
    page = open_page("#/runs")
    page.get_by_text("Nothing was added for 60 minutes").wait_for()
    os.utime(loss)
    page.get_by_text("This training goes on").wait_for()


def test_page_shows_own_value_and_measurement(open_page, project):
    def measured(route):
        found = route.fetch().json()
        for one in found["figures"]:
            if f"{one['system']}.{one['name']}" == SCORE:
                one["measured"] = one["ours"] | {"value": 0.95, "source": "measured"}
        route.fulfill(json=found)

    page = open_page()
    page.route("**/api/runs/figures", measured)
    page.evaluate(f"location.hash = '#/runs?figure={SCORE}'")
    page.get_by_text(re.compile("^3 versions")).wait_for()
    row = page.get_by_role("row", name=re.compile("score against the random player"))
    assert re.search(r"0\.8\s+measured 0\.95", row.inner_text())
    chart = page.get_by_role("slider", name="The figure over the versions of the project")
    chart.focus()
    page.keyboard.press("End")
    assert "now, in the working tree" in chart.get_attribute("aria-valuetext")
    assert "0.8 (0.7 to 0.9)" in chart.get_attribute("aria-valuetext")


def test_without_a_project_the_page_says_so(open_page):
    page = open_page()
    answer = {"name": "", "problem": "no folder of this server belongs to a project", "report": False, "prefect": None}
    page.route("**/api/runs/project", lambda route: route.fulfill(json=answer))
    page.evaluate("location.hash = '#/runs'")
    page.get_by_text("belongs to a project").wait_for()
