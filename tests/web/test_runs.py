"""The page Runs: figures over versions, curves under way, generations, the report; and the page in a browser."""

import json
import re

import pytest

from tests.report.project import estimate, git, make_project
from tests.web.conftest import PHONE, fits, violations

SCORE = "amazons_net.score_vs_random"
GENERATION = {
    "gate": {"accepted": 0, "score": estimate(0.4, 0.2, 0.6)},
    "self_play": {"games": 30, "mean_plies": 12.5},
    "train": {"loss": 2.5},
}


@pytest.fixture(scope="session")
def project(web_folder):
    """The server's folder is a project, with a training under way and two generations."""
    make_project(web_folder)
    live = web_folder / "work/amazons_train/x-1/live/plots/metrics/train"
    live.mkdir(parents=True)
    (live / "loss.tsv").write_text("step\tloss\n1\t3.5\n2\t3.25\n3\t3.")  # half written, and yet a number
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


def ask(client, path, status=200, **query):
    answer = client.get(f"/api/runs/{path}", params=query)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_figures_of_the_working_tree_and_of_every_version(client, project):
    about = ask(client, "project")
    assert (about["problem"], about["report"]) == ("", True)
    rows = {f"{one['system']}.{one['name']}": one for one in ask(client, "figures")["figures"]}
    assert rows[SCORE]["ours"]["value"] == 0.8
    assert (rows[SCORE]["ours"]["low"], rows[SCORE]["ours"]["source"]) == (0.7, "graph")
    assert rows["amazons_net.games"]["published"] == 25_000
    found = ask(client, "versions")["versions"]
    assert [one["subject"] for one in found if not one["name"]] == ["One <script>alert(1)</script>", "Two"]
    assert [one["name"] for one in found if one["name"]] == ["wide"]
    values = {one["commit"]: ask(client, "version", commit=one["commit"])["figures"][SCORE]["value"] for one in found}
    assert values == {git(project, "rev-parse", "HEAD~1"): 0.2, git(project, "rev-parse", "HEAD"): 0.8}


def test_curves_under_way_come_first(client, project):
    found = ask(client, "curves")["curves"]
    assert (found[0]["title"], found[0]["under_way"]) == ("amazons_train/x-1/live", True)
    assert {one["title"] for one in found if not one["under_way"]} == {"amazons/train/residual", "growing/boards/6"}
    live = ask(client, "curve", name=found[0]["name"])
    assert live["x"] == "step"
    assert live["series"] == {"train/loss": [[1, 3.5], [2, 3.25], [3, 3]]}
    done = ask(client, "curve", name="artifacts/reports/amazons/train/residual.csv")
    assert done["series"] == {"train_loss": [[1, 2.5], [2, 2]], "rate": [[2, 0.1]]}


def test_generations_without_the_damaged_one(client, project):
    found = ask(client, "generations")
    assert [(one["number"], one["gate"], one["accepted"], one["seconds"]) for one in found["gomoku"]] == [
        (1, 0.4, False, 3.0),
        (2, 0.4, False, None),
    ]
    (one,) = found["growing"]
    assert (one["board"], one["games"], one["loss"]) == ("6x6", 40, 3.0)


def test_the_report_may_do_nothing_but_be_seen(client, project):
    answer = client.get("/api/runs/report")
    assert answer.text == "<h1>The report</h1>"
    assert answer.headers["content-security-policy"].startswith("sandbox allow-popups; default-src 'none'")


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
    ask(client, path, 400, **query)


def test_an_unknown_commit_is_told(client, project):
    assert "git knows no revision" in ask(client, "version", commit="0" * 40)["problem"]


def test_the_page_by_mouse_and_keyboard(open_page, project):
    page = open_page("#/runs")
    page.get_by_text("This training goes on").wait_for()
    page.get_by_role("button", name="Amazons-Net: score against the random player").click()
    page.get_by_text(re.compile("^3 versions")).wait_for()
    chart = page.get_by_role("slider", name="The figure over the versions of the project")
    chart.focus()
    page.keyboard.press("Home")
    assert "<script>alert(1)</script>" in chart.get_attribute("aria-valuetext")
    assert "0.2 (0.1 to 0.3)" in chart.get_attribute("aria-valuetext")
    page.keyboard.press("End")
    assert "now, in the working tree" in chart.get_attribute("aria-valuetext")
    page.get_by_label("Training", exact=True).select_option(label="amazons/train/residual")
    page.get_by_label("rate").check()
    page.get_by_label("6x6").check()
    page.get_by_text("1 generations, 40 games").wait_for()
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_without_a_project_the_page_says_so(open_page):
    page = open_page()
    answer = {"name": "", "problem": "no folder of this server belongs to a project", "report": False, "prefect": ""}
    page.route("**/api/runs/project", lambda route: route.fulfill(json=answer))
    page.evaluate("location.hash = '#/runs'")
    page.get_by_text("belongs to a project").wait_for()
