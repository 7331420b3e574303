"""The frame of all pages: what it looks like to a browser, on a phone, to a screen reader."""

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
