"""Docstrings name the thing that they describe first, and no text or test name has words that readers stumble over."""

import ast
import io
import re
import tokenize

import pytest

from tests.layout.imports import ROOT, parsed

FOLDERS = ("pipeline_src", "spiders", "flows", "bench", "tests")
EMPTY = {
    "What",
    "Whose",
    "Whom",
    "Of",
    "Which",
    "That",
    "Those",
    "There",
    "Such",
    "And",
    "Or",
    "But",
    "So",
    "Whatever",
    "Whoever",
}
"""First words that name nothing. ``Which`` and ``That`` continue another sentence; ``Whether`` answers a question."""
TICS = re.compile(r"\b(beside|anew|told|goes on)\b", re.IGNORECASE)
"""Words that once stood for a dozen others: next to, with, in addition to; again; reported; continues, is running."""
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")
MOST_WORDS = 10
"""Largest number of words in the name of a test: it says what holds, in the field's words."""


def paths(*folders):
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def docstrings(path):
    """(line, text) of every string that stands alone: docstrings of modules, classes, functions and fields."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def comments(path):
    """(line, text) of every comment."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def faults(name):
    """Faults of the name of a test."""
    words = name.removeprefix("test_").split("_")
    found = [] if len(words) <= MOST_WORDS else [f"{len(words)} words"]
    found += [match[0] for match in TICS.finditer(" ".join(words))]
    return found + [word for word in words[:1] if word in ("what", "whatever", "whose", "whom", "of", "that", "which")]


def test_no_docstring_begins_with_a_word_that_names_nothing():
    found = [
        f"{path}:{line}: {text.strip()[:60]} ..."
        for path in paths(*FOLDERS[:-1])
        for line, text in docstrings(path)
        if re.match(r"\W*(\w*)", text)[1] in EMPTY
    ]
    assert not found, "docstrings name the thing that they describe first:\n" + "\n".join(found)


def test_docstrings_and_comments_have_no_tics():
    found = [
        f"{path}:{line}: {match[0]}"
        for path in paths(*FOLDERS)
        if TICS.search(path.read_text(encoding="utf-8"))
        for line, text in (*docstrings(path), *comments(path))
        for match in TICS.finditer(QUOTED.sub("", text))
    ]
    assert not found, "say which of its meanings is meant:\n" + "\n".join(found)


def test_names_of_tests_are_short_and_plain():
    found = [
        f"{path}: {name}: {', '.join(faults(name))}"
        for path in paths("tests")
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
        if faults(name)
    ]
    assert not found, "a test's name says what holds, in ten words:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("test_keeps_move_after_big5_comment", []),
        ("test_a_bad_question_is_told", ["told"]),
        ("test_a_match_goes_on_where_it_was", ["goes on"]),
        ("test_what_is_no_record_is_refused", ["what"]),
        ("test_a_game_that_ends_while_it_is_crawled_is_fetched_again", ["11 words"]),
    ],
)
def test_bad_names_are_found(name, found):
    assert faults(name) == found
