"""The frame of all pages: what it looks like to a browser, on a phone, to a screen reader."""

import re

from tests.web.conftest import PHONE, fits


def test_the_first_page_is_play_and_fits_a_phone(open_page):
    page = open_page("", PHONE)
    page.wait_for_selector(".board")
    assert page.title() == "Play · Zugwerk"
    assert fits(page)


def test_theme_follows_the_system_until_chosen(open_page):
    page = open_page("", color_scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name="Change between dark and light").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_missing_page_says_so(open_page):
    page = open_page("#/nowhere")
    page.get_by_text("There is no page nowhere.").wait_for()


def test_menu_opens_the_report_or_says_how_to_make_it(open_page, web_folder):
    page = open_page()
    link = page.get_by_role("link", name="Report", exact=True)
    with page.expect_popup() as opened:
        link.click()
    opened.value.get_by_text("`dvc repro report_page` makes it").wait_for()


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
