"""The report: its page, the texts of its tables, and the verdicts."""

import json
import re
import sys
from html import unescape
from html.parser import HTMLParser

import pytest

from pipeline_src.arena.match import Tournament, run_tournament
from pipeline_src.errors import ZugwerkError
from pipeline_src.report import page
from pipeline_src.report.figures import REGISTRY, SYSTEMS, figures, interval, number, with_unit
from pipeline_src.report.page import lines, verdicts
from pipeline_src.report.tournament_page import write_page
from tests.arena import fakes  # noqa: F401 - registers the player
from tests.players.test_programs import SCRIPT
from tests.report.project import write_files
from tests.web.conftest import (
    PATIENCE_MS,
    PHONE,
    WIDE,
    browser,  # noqa: F401 - a fixture
    fits,
    violations,
)

VOID = {"meta", "link", "br", "hr", "img", "input", "path", "circle", "rect", "use", "line"}


class Checked(HTMLParser):
    """Every element is closed where it has to be; ids and what the page loads are kept."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.loads, self.text = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.loads += [value for key, value in attributes if key in ("src", "href") and not value.startswith("#")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "params.yaml").write_text("profile: laptop\nseed: 7\n")
    reports = tmp_path / "artifacts/reports/joseki"
    reports.mkdir(parents=True)
    (reports / "build.json").write_text(json.dumps({"games": 500, "patterns": 30_000}))
    return tmp_path


def text_of(checkout):
    page.write_report(checkout / "out", checkout)
    return (checkout / "out/index.html").read_text()


def test_a_checkout_without_results_gets_a_page_that_says_so(checkout):
    (checkout / "artifacts/reports/joseki/build.json").unlink()
    text = text_of(checkout)
    assert text.count("not made yet") == sum(len(rows) for rows in REGISTRY.values())
    assert all(system.title in text for system in SYSTEMS.values())


def test_the_page_is_self_contained_and_ids_are_unique(checkout):
    found = Checked(text_of(checkout))
    assert found.loads == []
    assert len(found.ids) == len(set(found.ids))
    assert "30,000" in " ".join(found.text)
    assert "1.08" in " ".join(found.text)  # of 27,686 published patterns


def test_the_page_opens_with_the_verdict_and_folds_the_tables(checkout):
    text = text_of(checkout)
    body = text[text.index("<main>") :]
    assert body.index('id="verdict"') < body.index("not measured") < body.index('<section id="amazons_net">')
    assert body.count('<tr><td><span class="outcome') == 5
    assert "5 not measured. This run" in text[: text.index("<nav>")]
    assert "not made by this run: <code>" in body
    for table in re.finditer("<table>", body):
        assert body.rfind("<details>", 0, table.start()) > body.rfind("</details>", 0, table.start())


@pytest.mark.slow
def test_charts_have_offline_tooltips_and_text_alternatives(browser, tmp_path):  # noqa: F811
    write_files(tmp_path)
    page.write_report(tmp_path / "out", tmp_path)
    complaints = []
    with browser.new_context(viewport=PHONE, offline=True) as context:
        shown = context.new_page()
        shown.on("console", lambda message: complaints.append(message.text))
        shown.on("pageerror", lambda error: complaints.append(str(error)))
        shown.goto(f"file://{tmp_path / 'out/index.html'}")
        figure = shown.locator("figure", has_text="Elo by generation")
        figure.locator(".vega-embed .mark-symbol path").last.hover()
        tip = shown.locator("#vg-tooltip-element.visible")
        tip.wait_for()
        assert {"3", "50", "100"} <= {*tip.inner_text().split()}  # generation, Elo, end of its interval
        assert shown.locator('figure [role="img"][aria-label="Elo by generation"]').count() == 1
        shown.locator(".vega-embed").last.wait_for()
        assert fits(shown)
        shown.mouse.move(0, 0)
        tip.wait_for(state="hidden")
        assert violations(shown) == []
    assert complaints == []


def test_text_of_a_file_is_no_markup(checkout):
    measured = checkout / "docs/measured"
    measured.mkdir(parents=True)
    row = {"value": 0, "data": "<script>alert(1)</script>", "command": "make <b>", "hardware": '"><img src=x>'}
    (measured / "amazons_engine.json").write_text(json.dumps({"time_losses": row}))
    text = text_of(checkout)
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_damaged_metrics_file_is_named_and_old_page_kept(checkout):
    before = text_of(checkout)
    (checkout / "artifacts/reports/joseki/build.json").write_text('{"games": 5')
    with pytest.raises(ZugwerkError, match=r"build\.json"):
        text_of(checkout)
    assert (checkout / "out/index.html").read_text() == before


ROW = {
    "words": "score | of a match", "unit": "score", "published": 0.5, "ours": 0.75, "low": 0.6, "high": 0.85,
    "n": 1200, "ratio": 1.5, "from": "graph", "profile": "laptop", "seed": 1, "data": "engine games",
    "hardware": None, "date": None, "command": "dvc repro amazons_match", "label": "laptop", "others": [],
    "player": None,
}  # fmt: skip


def test_a_line_has_the_interval_the_ratio_and_the_command():
    (line,) = lines({"score": ROW})
    assert line[:9] == (
        ROW["words"], "0.500", "0.750", "0.600 to 0.850", "1.5", "1,200", "score", "laptop", "dvc repro amazons_match"
    )  # fmt: skip
    assert line.where == "engine games"


def test_smaller_measurements_come_below_the_first():
    about = {"from": "measured", "hardware": "one core", "date": "2026-01-02", "label": "measured"}
    measured = ROW | {"ours": 0.7} | about
    first, second = lines({"score": measured | {"others": [ROW]}})
    assert (first.made, first.profile, first.ours, first.below) == ("measured", "measured", "0.700", False)
    assert first.where == "engine games, one core, 2026-01-02"
    assert (second.made, second.profile, second.ours, second.below) == ("graph", "laptop", "0.750", True)


def test_committed_run_equal_to_own_one_is_left_out():
    kept = ROW | {"from": "measured", "label": "laptop, committed"}
    assert len(lines({"score": ROW | {"others": [kept]}})) == 1
    assert len(lines({"score": ROW | {"others": [kept | {"ours": 0.7}]}})) == 2


def test_missing_figures_are_marked():
    nothing = dict.fromkeys(("ours", "low", "high", "n", "ratio", "from", "profile", "label"))
    line = lines({"a": ROW | nothing})[0]
    assert (line.ours, line.profile, line.where) == ("not made yet", "-", "")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "", "-"),
        (0.5, "score", "0.500"),
        (1, "games", "1"),
        (25_000.0, "games", "25,000"),
        (0.0616, "hours", "0.0616"),
        (450.1, "Elo", "450"),
        (2690, "microseconds", "2,690"),
    ],
)
def test_numbers(value, unit, text):
    assert number(value, unit) == text
    assert with_unit("words", unit) == ("words" if unit in ("", "score", "games", "Elo") else f"words, {unit}")


@pytest.mark.parametrize(
    ("low", "ours", "high", "unit", "text"),
    [
        (0.0626, 0.426, 2.9, "", "0.063 to 2.900"),
        (50.84, 90.1, 130.2, "Elo", "50.8 to 130.2"),
        (0.912, 1.35, 1.8, "squares left", "0.91 to 1.80"),
        (-0.962, 0.0, 0.962, "squares left", "-0.962 to 0.962"),
        (0.9, 1200.4, 2400.6, "", "1 to 2,401"),
    ],
)
def test_an_interval_has_the_decimals_of_its_value(low, ours, high, unit, text):
    assert interval({"low": low, "ours": ours, "high": high, "unit": unit}) == text


# The verdict on a system follows from the interval of a measurement and the published value.


def told(folder, system, profile=None):
    return next(one for one in verdicts(figures(folder), profile) if one.system == system)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "params.yaml").write_text("profile: laptop\n")
    (tmp_path / "docs/measured").mkdir(parents=True)
    return tmp_path


def measure(project, system, name="overnight", **figures):
    rows = {
        figure: dict(zip(("ours", "low", "high"), values, strict=True)) | {"n": 10, "date": "2026-01-02"}
        for figure, values in figures.items()
    }
    (project / f"docs/measured/{name}.json").write_text(json.dumps({system: rows}))


def test_every_claim_uses_registry_figures_and_shows_published_value():
    claims = {name: system.claim for name, system in SYSTEMS.items() if system.claim}
    assert len(claims) == 5
    for name, claim in claims.items():
        assert {claim.figure, claim.run or claim.figure} <= REGISTRY[name].keys()
        if isinstance(claim.bar, str):
            assert claim.bar in REGISTRY[name]
        elif (published := REGISTRY[name][claim.figure].published) is not None:
            assert published == claim.bar


NETS = {"residual_turn_top1": (0.3, 0.28, 0.32)}
DEPTH, GROWTH = "cnn_unbeaten_vs_depth3", "line_net_time_to_alphabeta2"


@pytest.mark.parametrize(
    ("system", "values", "outcome"),
    [
        ("search_depth", {DEPTH: (0.8, 0.74, 0.85)}, "reproduced"),  # which nothing beats: its opponent is not known
        ("search_depth", {DEPTH: (0.73, 0.71, 0.74)}, "reproduced"),  # within the margin
        ("search_depth", {DEPTH: (0.734, None, None)}, "reproduced"),
        ("search_depth", {DEPTH: (0.7, 0.6, 0.8)}, "not decided"),
        ("search_depth", {DEPTH: (0.5, 0.4, 0.6)}, "not reached"),
        ("growing_boards", {GROWTH: (0.5, 0.2, 0.9)}, "reproduced"),  # less compute is better
        ("growing_boards", {GROWTH: (0.9, 0.7, 1.1)}, "not decided"),
        ("growing_boards", {GROWTH: (1.4, 1.1, 1.7)}, "not reached"),
        ("amazons_net", NETS | {"turn_top1": (0.2, 0.1, 0.25)}, "beaten"),  # the published nets are the bar
        ("amazons_net", NETS | {"turn_top1": (0.3, 0.2, 0.4)}, "not decided"),
        ("amazons_net", NETS | {"turn_top1": (0.5, 0.4, 0.6)}, "not reached"),
    ],
)
def test_a_value_beyond_at_or_below_the_published_one(project, system, values, outcome):
    measure(project, system, **values)
    verdict = told(project, system)
    assert verdict.outcome == outcome
    assert verdict.best.endswith("; overnight")
    assert ("would decide" in verdict.reason) == (outcome == "not decided")
    if system == "amazons_net":
        bar = f"published nets with our changes {values['turn_top1'][0]:.3f}"
        assert verdict.best == f"0.300 (0.280 to 0.320); {bar}; overnight"


@pytest.mark.parametrize(
    ("system", "values", "needed"),
    [
        # The value is as far from 0.704, the bar less its margin, as 10 * (0.104 / 0.046) ** 2 games reach.
        ("search_depth", {DEPTH: (0.75, 0.646, 0.85)}, "about 52 games"),
        # Logarithms of -0.84 with a deviation of 0.74: Student's interval of six reaches 0.78, of five 0.92.
        ("growing_boards", {GROWTH: (0.433, 0.069, 2.72)}, "about 6 seeds a side"),
    ],
)
def test_an_undecided_verdict_names_the_sample_that_decides(project, system, values, needed):
    measure(project, system, **values)
    if system == "growing_boards":
        rows = json.loads((project / "docs/measured/overnight.json").read_text())
        rows[system][GROWTH]["n"] = 3
        (project / "docs/measured/overnight.json").write_text(json.dumps(rows))
    assert f"{needed} would decide" in told(project, system).reason


def test_only_the_profile_that_is_like_the_publication_decides(project):
    measure(project, "gomoku_zero", score_vs_alphabeta4=(0.96, 0.92, 0.98))
    assert told(project, "gomoku_zero").outcome == "not measured"
    measure(project, "gomoku_zero", "published_run", score_vs_alphabeta4=(0.6, 0.52, 0.7))
    verdict = told(project, "gomoku_zero")
    assert (verdict.best, verdict.outcome) == ("0.600 (0.520 to 0.700); published_run", "reproduced")
    assert verdict.reason.startswith("with a smaller net")


def test_models_of_one_run_have_no_interval(project):
    measure(project, "gomoku_zero", best_of_five_won=(0.75, 0.3, 0.95))
    assert figures(project)["gomoku_zero"]["best_of_five_won"]["low"] is None


def test_without_a_measurement_nothing_is_claimed(project):
    measure(project, "amazons_net", **NETS)  # and not of the nets that are the bar
    assert {one.outcome for one in verdicts(figures(project))} == {"not measured"}


def test_own_run_is_shown_with_best_measurement_of_larger_profile(project):
    measure(project, "joseki", "laptop", clashes_ours=(0, None, None))
    (project / "artifacts/reports/joseki").mkdir(parents=True)
    (project / "artifacts/reports/joseki/build.json").write_text(json.dumps({"clashes_ours": 44}))
    verdict = told(project, "joseki")
    assert (verdict.run, verdict.best, verdict.outcome) == ("44; other params", "0; laptop", "beaten")
    measure(project, "joseki", "paper", clashes_ours=(43, None, None))
    verdict = told(project, "joseki")
    assert (verdict.best, verdict.outcome) == ("43; paper", "reproduced")
    (project / "artifacts/reports/joseki/build.json").unlink()
    assert told(project, "joseki").run == "-"
    assert told(project, "joseki", "laptop").run == "0"


def test_a_run_without_the_deciding_figure_shows_another_by_name(project):
    (project / "artifacts/reports/growing").mkdir(parents=True)
    score = {"value": 0.4, "low": 0.2, "high": 0.6, "n": 16}
    (project / "artifacts/reports/growing/evaluate.json").write_text(json.dumps({"score_vs_mcts1000": score}))
    verdict = told(project, "growing_boards")
    assert verdict.run == "0.400 (0.200 to 0.600); largest board: score against MCTS, 1,000 playouts; other params"
    assert verdict.outcome == "not measured"


def test_a_run_with_other_params_decides_nothing(project):
    (project / "artifacts/reports/depth").mkdir(parents=True)
    score = {"value": 0.8, "low": 0.75, "high": 0.85, "n": 200}
    (project / "artifacts/reports/depth/match.json").write_text(json.dumps({"cnn_depth3": {"score": score}}))
    verdict = told(project, "search_depth")
    assert (verdict.run, verdict.outcome) == ("0.800 (0.750 to 0.850); other params", "not measured")


def test_figures_of_our_own_net_show_no_published_value():
    ours = [figure for figure in REGISTRY["search_depth"].values() if figure.words.startswith("our net")]
    assert len(ours) > 4
    assert {figure.published for figure in ours} == {None}


# The page of a tournament: what is in the file, and that it works in a browser without other files.


HOSTILE = "</script><b>&x"
GOMOKU = {
    "game": "gomoku",
    "size": 5,
    "games": 2,
    "openings": "random:2",
    "players": {
        "deep": "alphabeta:depth=2",
        HOSTILE: "random",
        "broken": f"brain:'{sys.executable}' -S '{SCRIPT}' crash",
    },
}
AMAZONS = {"game": "amazons", "size": 6, "games": 2, "sprt": (0, 50), "players": {"one": "one_ply", "two": "random"}}


def written(tmp_path, values):
    wanted = Tournament(**values)
    found = run_tournament(wanted)
    write_page(found, wanted, tmp_path / "index.html")
    return found, (tmp_path / "index.html").read_text()


def data(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_the_file_has_table_chart_forfeits_and_all_games(tmp_path):
    found, page = written(tmp_path, GOMOKU)
    games = data(page)["games"]
    assert [one["number"] for one in games] == [1, 2, 3, 4, 5, 6]
    assert [one["names"] for one in games[:2]] == [["deep", HOSTILE], [HOSTILE, "deep"]]
    assert [len(one["ranks"]) for one in games] == [1 + len(one["moves"]) for one in games]
    assert games[0]["ranks"][0] == "5/5/5/5/5"
    assert HOSTILE not in page
    drawn = {unescape(text) for text in re.findall(r">([^<]+)</text>", page)}
    assert drawn & {*GOMOKU["players"]} == {"deep", HOSTILE}  # a player without a legal move has no Elo
    assert [one["game"] for one in found.forfeited] == [3, 4, 5, 6]
    for one in found.forfeited:
        assert f'<a href="#game-{one["game"]}">' in page
    assert page.count("no memory ?[31mleft") == 4 + 4  # the table, and the games
    assert not re.search(r'(src|href)="(?!#)', page)
    assert not re.search(r"^(import|export) ", page, re.MULTILINE)


def test_an_interrupted_tournament_has_a_page_too(tmp_path):
    wanted = Tournament(**GOMOKU)
    found = run_tournament(wanted)
    for match in found.matches.values():
        match.pairs.clear()
    found.status = "interrupted"
    write_page(found, wanted, tmp_path / "index.html")
    page = (tmp_path / "index.html").read_text()
    assert "0 of 6 games, interrupted" in page
    assert data(page)["games"] == []


@pytest.fixture
def opened(browser, tmp_path):  # noqa: F811
    """Opens the page of a tournament from its file; nothing may be asked of elsewhere, and nothing complained."""
    contexts, complaints = [], []

    def begin(values, size, scheme):
        written(tmp_path, values)
        context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda m: complaints.append(m.text))
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("request", lambda r: r.url.startswith("file:") or complaints.append(r.url))
        page.goto(f"file://{tmp_path / 'index.html'}")
        page.wait_for_selector(".board")
        return page

    yield begin
    for context in contexts:
        context.close()
    assert not complaints


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")])
def test_games_are_stepped_through(opened, size, scheme):
    page = opened(GOMOKU, size, scheme)
    assert fits(page)
    assert page.get_attribute("html", "data-theme") == scheme
    game = data(page.content())["games"][0]
    page.get_by_label("To the end").click()
    assert page.locator(".board .stone").count() == len(game["moves"])
    page.get_by_label("Previous move").click()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".turn").inner_text() == f"Move {len(game['moves']) - 2} of {len(game['moves'])}"
    page.locator('a[href="#game-3"]').click()
    page.get_by_text("Forfeit, crash: move 4: engine").wait_for()
    page.get_by_label("Games shown").select_option("broken")
    assert page.locator("tr[data-game]").count() == 4
    page.locator("tr[data-game]").last.get_by_role("button").click()
    page.get_by_text("Game 6:").wait_for()
    assert fits(page)
    assert not violations(page)


def test_amazons_have_their_board(opened):
    page = opened(AMAZONS, WIDE, "light")
    page.get_by_label("To the end").click()
    game = data(page.content())["games"][0]
    assert page.locator(".board .amazon").count() == 8
    assert page.locator(".board .burnt").count() == len(game["moves"])
    assert page.get_by_role("heading", name="Sequential tests").is_visible()
