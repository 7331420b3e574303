"""Every command that the pages name is there: subcommand and options, stage, module, make target."""

import re
import shlex
from functools import cache
from itertools import takewhile

import pytest
import typer

from pipeline_src import yaml12
from pipeline_src.cli.app import app
from tests.docs.pages import PAGES, blocks, name, prose
from tests.layout.imports import ROOT, modules

START = re.compile(r"^(zugwerk|dvc|python -m|make|prefect)\s")
DVC = {"repro", "exp", "metrics", "params", "plots", "push", "pull", "remote", "config", "commit", "checkout", "dag"}
DVC |= {"add", "status", "freeze", "unfreeze", "gc", "queue"}
ELSEWHERE = {"pip", "venv", "pytest", "prefect"}
"""Modules that are not ours."""
OF_THE_EXAMPLE = {"connect_four"}
"""Commands that are there once somebody has followed add-a-game.md."""


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
    found = set()
    for stage, definition in yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"].items():
        found.add(stage)
        names = definition.get("foreach", [])
        if isinstance(names, str):
            names = _at(yaml12.parse((ROOT / "params.yaml").read_text()), names.strip("${}"))
        found |= {f"{stage}@{one}" for one in names}
    return found


def _at(tree, key):
    for part in key.split("."):
        tree = tree[part]
    return tree


@cache
def targets():
    return set(re.findall(r"^([a-z0-9_-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def check_zugwerk(words):
    command = typer.main.get_command(app)
    while words and hasattr(command, "commands") and re.fullmatch(r"[a-z_]+", words[0]):
        if words[0] in OF_THE_EXAMPLE:
            return
        assert words[0] in command.commands, f"no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in words:
        option = word.partition("=")[0]
        assert not option.startswith("--") or option in {*known, "--help"}, f"no option {option}"


def check_dvc(words):
    words = words[2:] if words[0] == "--cd" else words
    words = [word for word in words if word not in ("--wait-for-lock",)]
    assert words[0] in DVC, f"dvc {words[0]}"
    if words[0] != "repro":
        return
    for word in words[1:]:
        if not (word.startswith("-") or re.fullmatch(r"[A-Z<].*|.*NAME.*|\.\.\.", word)):
            assert word in stages(), f"no stage {word}"


def check_module(words):
    if words[0] not in ELSEWHERE:
        module = words[0]
        path = ROOT / module.replace(".", "/")
        assert module in modules() or path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), (
            f"no module {module}"
        )


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


@pytest.mark.parametrize(
    "wrong",
    [
        "zugwerk gomoku pefrt 2",
        "zugwerk match gomoku alphabeta mcts --game 20",
        "dvc repro gomoku_train",
        "dvc repo",
        "python -m pipeline_src.stages.gomoku",
        "make measure",
    ],
)
def test_a_wrong_command_is_seen(wrong):
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
