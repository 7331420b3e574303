"""The project's pages: their links and commands lead somewhere, their examples run, no result is typed by hand."""

import doctest
import importlib
import re
import shlex
from functools import cache, reduce
from itertools import takewhile
from operator import getitem

import pytest
import typer

from pipeline_src import yaml12
from pipeline_src.cli.app import app
from pipeline_src.players.registry import makers_of, open_maker
from pipeline_src.reference.__main__ import LOCAL
from tests.layout.imports import ROOT, modules

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [path for path in PAGES if path.parent.name != "reference" or path.name not in LOCAL]  # those in git
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name(path):
    return path.relative_to(ROOT).as_posix()


def blocks(path):
    """(language, text) of each fenced block of a page."""
    return _FENCE.findall(path.read_text())


def prose(path):
    """A page without its fenced blocks."""
    return _FENCE.sub("", path.read_text())


def anchors(path):
    """The anchors that GitHub gives a page's headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.+)$", prose(path), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        again = sum(slug == one or re.fullmatch(re.escape(slug) + r"-\d+", one) is not None for one in found)
        found.add(slug if not again else f"{slug}-{again}")
    return found


# Links.


LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")
MADE = ("artifacts/reports/index.html",)
"""Made by the graph, and in no fresh clone."""


def relative_links(path):
    found = [link or picture for link, picture in LINK.findall(prose(path))]
    return [link for link in found if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_leads_somewhere(page):
    for link in relative_links(page):
        file, _, anchor = link.partition("#")
        target = page if not file else (page.parent / file).resolve()
        assert target.is_relative_to(ROOT), f"{link} leads out of the project"
        assert target.exists() or target.relative_to(ROOT).as_posix() in MADE, f"no such file: {link}"
        if anchor:
            assert anchor in anchors(target), f"no such heading: {link}"


def test_the_index_has_every_page():
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in relative_links(index)}
    assert not {page for page in PAGES if page != index} - linked - {ROOT / "README.md"}


def test_every_model_that_is_named_is_made():
    locked = yaml12.parse((ROOT / "dvc.lock").read_text())["stages"].values()
    made = [out["path"] for stage in locked for out in stage["outs"]]
    night = yaml12.parse((ROOT / "profiles/overnight.yaml").read_text())
    made += [f"artifacts/models/gomoku/{max(night['gomoku_generations'])}"]
    made += [f"artifacts/models/amazons_zero/{max(night['amazons_generations'])}"]
    sources = [page.read_text() for page in PAGES if page.name != "experiments.md"]
    sources += [path.read_text() for path in (ROOT / "pipeline_src/cli").glob("*.py")]
    sources += [open_maker(where)[1].EXAMPLE for game in ("amazons", "gomoku") for where in makers_of(game).values()]
    named = {
        model for text in sources for model in re.findall(r"artifacts/models/[\w/]+\.\w+", text) if "NN" not in model
    }
    assert len(named) > 5
    assert not {model for model in named if not any(f"{model}/".startswith(f"{out}/") for out in made)}


# Results: numbers that look like measurements stand in generated blocks, or are listed here.
#
# docs/experiments.md has the measured history; the reference pages are written from the code. In all other pages a
# decimal, a percentage, an interval, a count of the form "3 of 10" or "16-5-3" has to come from `make docs`, or be a
# published figure, a parameter or a fact of a rule, which `ALLOWED` names.


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
    "docs/how-it-works/growing-boards.md": dict.fromkeys(("0.96", "0.01"), "published")
    | {"0.002": "parameter", "6-9-11": "boards"},
    "docs/how-it-works/joseki.md": {"2.69": "published"},
    "docs/how-it-works/search-depth.md": dict.fromkeys(("72.3 %", "73.4 %", "1.65"), "published")
    | {"2.1": "parameter, 700 ms of 3,000 nodes in millions"},
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
        ("It won 72.3 %, 65 of 100, that is 16-5-3, or +139.5 Elo.", ["72.3 %", "65 of 100", "16-5-3", "+139.5"]),
        ("It takes 31.5 us.", ["31.5"]),
        ("Rows (0.1 to 0.2) of `zero:c=1.25` and [a link](page-1.5.md) in 400 games.", ["(0.1 to 0.2)"]),
        ("Ranks 1 to 10 of a board of 15x15, from 2026-11-22, section 3.1.2 of the 95 % interval.", []),
        ("<!-- made: summary -->\n| 0.5 |\n<!-- made: end -->\n<!-- measured: begin -->0.7<!-- measured: end -->", []),
    ],
)
def test_results_in_text_are_recognised(text, found):
    assert numbers(text) == found


# Examples of the Python API, on its page and in docstrings.


API = ROOT / "docs/reference/api.md"
EXAMPLES = [name for name, path in modules().items() if re.search(r"^\s*>>> ", path.read_text(), re.MULTILINE)]
ENGINE = ["games", "records", "search", "players", "arena"]


def run_example(test):
    runner, said = doctest.DocTestRunner(), []
    runner.run(test, out=said.append)
    assert runner.tries > 0
    assert not runner.failures, "".join(said)


def test_the_examples_of_the_page_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(text for language, text in blocks(API) if language == "python")
    run_example(doctest.DocTestParser().get_doctest(code, {}, API.name, str(API), 0))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_module_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [test for test in doctest.DocTestFinder().find(importlib.import_module(name)) if test.examples]
    assert found
    for test in found:
        run_example(test)


@pytest.mark.parametrize("room", ENGINE)
def test_a_package_of_the_engine_offers_names_that_are_there(room):
    package = importlib.import_module(f"pipeline_src.{room}")
    assert package.__all__
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert re.search(rf"\b{name}\b", package.__doc__ + API.read_text()), f"{name} is shown nowhere"
    with pytest.raises(AttributeError, match=f"pipeline_src.{room}.*nothing_of_this_name"):
        _ = package.nothing_of_this_name


# Commands: subcommand and options, stage, module, make target.


START = re.compile(r"^(zugwerk|dvc|python -m|make|prefect)\s")
DVC = {"repro", "exp", "metrics", "params", "plots", "push", "pull", "remote", "config", "commit", "checkout", "dag"}
DVC |= {"add", "artifacts", "status", "freeze", "unfreeze", "gc", "queue"}
ELSEWHERE = {"pip", "venv", "pytest", "prefect"}
"""Modules that are not ours."""


def commands(page):
    """Each command that a page names in a block for a shell, or in code that begins like one."""
    lines = []
    for language, text in blocks(page):
        if language in ("sh", "console", "bash", ""):
            shown = re.findall(r"^\$ (.+)$", text, re.MULTILINE) if language == "console" else text.splitlines()
            lines += [re.sub(r"\s#\s.*$", "", line).strip() for line in shown]
    lines += [" ".join(code.split()) for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose(page))]
    parts = [part.strip() for line in lines for part in re.findall(r"(?:'[^']*'|[^&;|']|&(?!&))+", line)]
    return [part for part in parts if START.match(part)]


@cache
def stages():
    found, params = set(), yaml12.parse((ROOT / "params.yaml").read_text())
    for stage, definition in yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"].items():
        names = definition.get("foreach", [])
        if isinstance(names, str):
            names = reduce(getitem, names.strip("${}").split("."), params)
        found |= {stage, *(f"{stage}@{one}" for one in names)}
    return found


@cache
def targets():
    return set(re.findall(r"^([a-z0-9_-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def check_zugwerk(words):
    command = typer.main.get_command(app)
    while words and hasattr(command, "commands") and re.fullmatch(r"[a-z_]+", words[0]):
        assert words[0] in command.commands, f"no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in words:
        option = word.partition("=")[0]
        assert not option.startswith("--") or option in {*known, "--help"}, f"no option {option}"


def check_dvc(words):
    words = [word for word in (words[2:] if words[0] == "--cd" else words) if word != "--wait-for-lock"]
    assert words[0] in DVC, f"dvc {words[0]}"
    if words[0] != "repro":
        return
    for word in words[1:]:
        if not (word.startswith("-") or re.fullmatch(r"[A-Z<].*|.*NAME.*|\.\.\.", word)):
            assert word in stages(), f"no stage {word}"


def check_module(words):
    path = ROOT / words[0].replace(".", "/")
    known = words[0] in {*ELSEWHERE, *modules()} or path.with_suffix(".py").is_file()
    assert known or (path / "__main__.py").is_file(), f"no module {words[0]}"


def check_make(words):
    known = targets() | {"measure-SYSTEM"}
    for word in takewhile(lambda word: "=" not in word, words):
        assert word.startswith(("-", "<")) or word in known, f"no target {word}"


CHECKS = {"zugwerk": check_zugwerk, "dvc": check_dvc, "python": check_module, "make": check_make}


def check(command):
    words = shlex.split(command.replace("<system>", "SYSTEM").replace("<name>", "NAME"))
    program = words.pop(0)
    if program == "python":
        words.pop(0)
    if words and program in CHECKS:
        CHECKS[program](words)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_of_a_page_is_there(page):
    found = commands(page)
    for command in found:
        try:
            check(command)
        except (AssertionError, ValueError) as error:
            pytest.fail(f"{command}: {error}")


@pytest.mark.parametrize("page", ["joseki.md", "how-to/crawl-the-live-site.md", "how-to/use-your-own-records.md"])
def test_commands_for_own_games_build_the_shown_library(page):
    """No stage that tests it depends on the one that builds it."""
    tests = [command.split() for command in commands(ROOT / "docs" / page) if "joseki_evaluate" in command.split()]
    assert tests
    assert all("joseki_build" in command for command in tests)


def test_a_wrong_command_is_seen():
    for wrong in (
        *("zugwerk gomoku pefrt 2", "zugwerk match gomoku alphabeta mcts --game 20", "dvc repro gomoku_train"),
        *("dvc repo", "python -m pipeline_src.stages.gomoku", "make measure"),
    ):
        with pytest.raises(AssertionError, match=r"^(no|dvc) "):
            check(wrong)


def every_command(command, words=("zugwerk",)):
    yield words, command
    for below in getattr(command, "commands", {}).values():
        yield from every_command(below, (*words, below.name))


@pytest.mark.parametrize(("words", "command"), every_command(typer.main.get_command(app)))
def test_every_help_page_has_an_example_that_is_right(words, command):
    text = f"{command.help or ''}\n{command.epilog or ''}"
    found = re.findall(r"Example: (zugwerk .+?)\.?$", text, re.MULTILINE)
    assert found, f"{' '.join(words)}: no example"
    for example in found:
        check(example)
