"""No result is typed by hand: numbers that look like measurements stand in generated blocks, or are listed here.

Measured history is told in docs/experiments.md; the reference pages are written from the code. In all other pages a
decimal, a percentage, an interval, a count of the form "3 of 10" or "16-5-3" has to come from `make docs`, or be a
published figure, a parameter or a fact of a rule, which `ALLOWED` names.
"""

import re

import pytest

from tests.docs.pages import PAGES, name, prose

HISTORY = {"docs/experiments.md"}
NUMBER = re.compile(
    r"(?<![\w./-])[+-]?\d[\d,]*\.\d+(?![\w.]*\.\w)|\d[\d.,]* ?%|\(-?[\d.,]+ to -?[\d.,]+\)"
    r"|\b\d+-\d+-\d+\b|\b\d[\d,]* of \d[\d,]*\b"
)
MADE = re.compile(r"<!-- (?:made|measured): .*?<!-- (?:made|measured): end -->", re.DOTALL)
CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|\]\([^)]*\)", re.DOTALL)
ALLOWED = {}
