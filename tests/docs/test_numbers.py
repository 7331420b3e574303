"""No result is typed by hand: numbers that look like measurements stand in generated blocks, or are listed here.

docs/experiments.md has the measured history; the reference pages are written from the code. In all other pages a
decimal, a percentage, an interval, a count of the form "3 of 10" or "16-5-3" has to come from `make docs`, or be a
published figure, a parameter or a fact of a rule, which `ALLOWED` names.
"""

import re

import pytest

from tests.docs.pages import PAGES, name, prose

HISTORY = ("docs/experiments.md", "docs/reference/")
NUMBER = re.compile(
    r"\b\d[\d.,]* ?%|(?<![\w./-])[+-]?\d[\d,]*\.\d+(?!\d|\.\w)|\(-?[\d.,]+ to -?[\d.,]+\)"
    r"|\b\d{1,3}-\d{1,3}-\d{1,3}\b|\b\d[\d,]* of \d[\d,]*\b"
)
MADE = re.compile(r"<!-- (?:made|measured): .*?<!-- (?:made|measured): end -->", re.DOTALL)
CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|\]\([^)]*\)|<img [^>]*>", re.DOTALL)
EVERYWHERE = {"95 %": "the confidence level", "3.11": "Python's version", "3.13": "Python's version"}
ALLOWED = {
    "docs/glossary.md": {"7.5": "komi"},
    "docs/gomoku.md": {"(13 to 28)": "published models"},
    "docs/how-it-works/gomoku-zero.md": {"2503.13178": "number of a paper"},
    "docs/how-it-works/growing-boards.md": {
        "0.96": "published",
        "0.01": "published",
        "0.002": "parameter",
        "6-9-11": "boards",
    },
    "docs/how-it-works/joseki.md": {"2.69": "published"},
    "docs/how-it-works/search-depth.md": {
        "72.3 %": "published",
        "73.4 %": "published",
        "1.65": "published",
        "2.1": "parameter, 700 ms of 3,000 nodes in millions",
    },
    "docs/how-to/explore-in-the-browser.md": {"10 %": "threshold", "20 %": "threshold"},
    "docs/joseki.md": {"6.5": "komi", "7.5": "komi"},
    "docs/security.md": {"0.1": "version"},
    "docs/upgrade.md": {"0.1": "version", "0.2": "version"},
}
"""Numbers by page that are no results, and what they are."""


def numbers(text):
    """What looks like a result outside generated blocks and code."""
    found = (match[0].strip() for match in NUMBER.finditer(CODE.sub(" ", MADE.sub(" ", text))))
    return [one for one in found if one not in EVERYWHERE]


@pytest.mark.parametrize("page", [page for page in PAGES if not name(page).startswith(HISTORY)], ids=name)
def test_no_result_is_typed_by_hand(page):
    allowed = ALLOWED.get(name(page), {})
    found = numbers(prose(page))
    typed = [one for one in found if one not in allowed]
    assert not typed, (
        f"{typed}: put a result into a block of `make docs` (`<!-- made: figures SYSTEM FIGURE -->`), link to "
        "docs/results.md, or say here what else it is"
    )
    assert allowed.keys() <= {*found}, "a number that is allowed is not there any more"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The net scored 0.517 (0.496 to 0.539) of 2,000 games.", ["0.517", "(0.496 to 0.539)"]),
        (
            "It won 72.3 % of them, 65 of 100, that is 16-5-3, or +139.5 Elo.",
            ["72.3 %", "65 of 100", "16-5-3", "+139.5"],
        ),
        ("It takes 31.5 us.", ["31.5"]),
        ("Rows (0.1 to 0.2) of `zero:c=1.25` and [a link](page-1.5.md) in 400 games.", ["(0.1 to 0.2)"]),
        ("Ranks 1 to 10 of a board of 15x15, from 2026-11-22, section 3.1.2 of the 95 % interval.", []),
        ("<!-- made: summary -->\n| 0.5 |\n<!-- made: end -->\n<!-- measured: begin -->0.7<!-- measured: end -->", []),
    ],
)
def test_results_in_text_are_recognised(text, found):
    assert numbers(text) == found
