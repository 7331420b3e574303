"""Pages that are followed word by word: how to add a game, a system, another site's spider, and the tutorial."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from pipeline_src.records.littlegolem.amazons import write_record
from spiders.replica.site import Answer
from tests.docs.test_pages import blocks
from tests.layout.imports import ROOT
from tests.spiders.sites import crawled, games, run, served, write_params

HOW_TO = ROOT / "docs" / "how-to"


def ran(folder, *words, **env):
    """What a Python program prints that runs in a copy of the project."""
    env = {**os.environ, "PYTHONPATH": str(folder), **env}
    done = subprocess.run([sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copied(folder, folders, files):
    for name in folders:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in files:
        shutil.copy(ROOT / name, folder)
    return folder


# add-a-game.md.


@pytest.mark.slow
def test_file_of_the_page_is_a_game_without_a_fault(tmp_path):
    """Compiled, as a reader would do it."""
    ((_, code),) = [block for block in blocks(HOW_TO / "add-a-game.md") if block[0] == "python"]
    (tmp_path / "my_game.py").write_text(code)
    program = "from pipeline_src.cli import main; main()"
    said = ran(tmp_path, "-c", f"import sys; sys.argv = 'zugwerk check my_game.py --seconds 1'.split(); {program}")
    assert "no fault found" in said


# add-a-system.md.


SYSTEM = HOW_TO / "add-a-system.md"
FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DIFF = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = ("pipeline_src", "spiders", "flows", "docs", "profiles", ".dvc/plots")
WRITTEN = ("dvc.yaml", "params.yaml", "prefect.yaml", "Makefile", "README.md", "pyproject.toml", ".gitignore")
SEEN = """
import json
from pathlib import Path
from pipeline_src.project.graph import GRAPH, read_graph
from pipeline_src.project.params import read_tree
from pipeline_src.report.charts import charts
from pipeline_src.report.figures import figures
from pipeline_src.report.page import write_report
write_report(Path("artifacts/reports"))
found = figures()["random_games"]["first_wins"]
print(json.dumps({
    "figure": [found["ours"], found["command"]],
    "charts": [chart.name for chart in charts("random_games")],
    "target": "random_play" in read_graph(GRAPH, read_tree()),
}))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = copied(tmp_path_factory.mktemp("project"), COPIED, WRITTEN)
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=b@c", "commit", "-qm", "x"]):
        git(folder, *words)
    text = SYSTEM.read_text()
    for name, content in FILE.findall(text):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    for diff in DIFF.findall(text):
        subprocess.run(["git", "apply", "-"], cwd=folder, input=diff, text=True, check=True)
    return folder


@pytest.fixture(scope="module")
def made(copy):
    """The copy after its stages have run and `make docs` has."""
    ran(copy, "-m", "pipeline_src.cli", "code")
    for command in ("systems.random_games.play", "report.headlines --system random"):
        ran(copy, "-m", "pipeline_src.stage", *command.split())
    ran(copy, "-m", "pipeline_src.reference")
    return copy


def git(folder, *words):
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_the_page_is_in_shape(copy):
    files = [name for name, _ in FILE.findall(SYSTEM.read_text()) if name.endswith(".py")]
    assert len(files) == 5
    ran(copy, "-m", "ruff", "check", *files)
    ran(copy, "-m", "ruff", "format", "--check", *files)


@pytest.mark.slow
def test_system_is_in_graph_and_report(made):
    seen = json.loads(ran(made, "-c", SEEN))
    share = json.loads((made / "artifacts/reports/random/play.json").read_text())["first_wins"]["value"]
    assert 0.3 < share < 0.8
    figure = [share, "dvc repro random_play"]
    assert seen == {"figure": figure, "charts": ["random-games"], "target": True}
    assert "Wins of the first side in random games" in (made / "artifacts/reports/index.html").read_text()
    assert "random_play" in json.loads((made / "artifacts/code.json").read_text())["code"]
    headlines = json.loads((made / "artifacts/reports/random.headlines.json").read_text())
    assert headlines["random"]["first_wins"]["value"] == share


@pytest.mark.slow
def test_the_pages_are_made(made):
    assert "## Random games" in (made / "docs/results.md").read_text()
    assert "| `first_wins` | wins of the first side |" in (made / "docs/reference/metrics.md").read_text()
    assert "random_play" in json.loads((made / "docs/reference/params.schema.json").read_text())["properties"]


@pytest.mark.slow
def test_no_other_file_is_edited_by_hand(made):
    changed = {line[3:] for line in git(made, "status", "--porcelain").splitlines() if line.startswith(" M")}
    made = {name for name in changed if name.startswith("docs/")} | {"README.md"}
    assert changed - made == {"dvc.yaml", "params.yaml"}


# crawl-another-site.md.


VIEW = "artifacts/raw/amazons/live-other"
LONGEST = 60


def answer(target):
    url = urlsplit(target)
    if url.path == "/players.json":
        page = int(parse_qs(url.query)["page"][0])
        people = ((g.first_plid, g.first_name, g.second_plid, g.second_name) for g in games())
        names = sorted({one for four in people for one in (four[:2], four[2:])})
        return text(json.dumps([{"id": plid, "nick": name} for plid, name in names[4 * page - 4 : 4 * page]]))
    what, _, number = url.path[1:].partition("/")
    if what == "games":
        plid = int(number.removesuffix(".txt"))
        return text("\n".join(line(game, plid) for game in games() if plid in (game.first_plid, game.second_plid)))
    if what == "record":
        return Answer(200, "text/plain", next(write_record(game) for game in games() if game.gid == int(number)))
    return Answer(404, "text/plain", b"")


def line(game, plid):
    first = plid == game.first_plid
    won = (game.winner == "first") == first
    opponent = game.second_name if first else game.first_name
    return f"{game.gid};{opponent};{len(game.actions)};{'1-0' if won else '0-1'}"


def text(value):
    return Answer(200, "text/plain", value.encode())


def test_the_page_s_spider_crawls_its_site(tmp_path):
    (code,) = (text for language, text in blocks(HOW_TO / "crawl-another-site.md") if language == "python")
    assert code.count("\n") < LONGEST
    (tmp_path / "other.py").write_text(code)
    with served(answer) as (url, asked):
        write_params(tmp_path, url, ways=["lists"], variants=["amazons"])
        status, said = run([sys.executable, "other.py"], tmp_path)
        assert status == 0, said
        stored = crawled(tmp_path, VIEW)
        assert {gid: game.body for gid, game in stored.items()} == {g.gid: write_record(g) for g in games()}
        assert all(game.finished for game in stored.values())
        before = len(asked)
        status, said = run([sys.executable, "other.py"], tmp_path)
        assert (status, "0 new" in said) == (0, True)
        assert not any("record" in target for target in asked[before:])


# tutorial.md: its commands, in a checkout of its own.


STEADY = re.compile(
    r"(Running stage|Stage '|Ran experiment|Data and pipelines|params\.yaml is now|params\.yaml +gomoku).*"
)
"""Lines of the page that every machine prints; figures differ."""
BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TYPED = re.compile(r"^\d+> (.+)$", re.MULTILINE)


def sections():
    """Return the commands of each section, each with what the page shows below it."""
    found = {}
    for section in (ROOT / "docs/tutorial.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        found[title] = [step for block in BLOCK.findall(text) for step in steps(block)]
    return found


def steps(block):
    """Return the commands of a block: after a prompt with their output, else a line each without its comment."""
    if "$ " not in block:
        return [(re.sub(r" +#.*", "", line), "") for line in block.splitlines() if line]
    return [tuple(part.partition("\n")[::2]) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


@pytest.fixture
def checkout(tmp_path):
    """The sources as they are here, as the first commit of a repository, and nothing that a run makes."""
    folder, listed = tmp_path / "zugwerk", ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
        "COLUMNS": "100",
        **{f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in IDENTITY.items()},
    }

    def run(command, typed=""):
        pipes = {"input": typed, "capture_output": True, "text": True}
        done = subprocess.run(shlex.split(command), cwd=folder, env=environment, **pipes)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout + done.stderr

    for command in ("git init -q -b main", "git add -A", "git commit -qm First"):
        run(command)
    return run


IDENTITY = {"NAME": "t", "EMAIL": "t@example.org"}


def test_commands_are_read_with_their_output():
    assert steps("$ a b\nout\n...\n$ c\n") == [("a b", "out\n...\n"), ("c", "")]
    assert steps("a -x   # why\n\nb\n") == [("a -x", ""), ("b", "")]
    assert [len(found) for found in sections().values()][:2] == [4, 1]


@pytest.mark.slow
@pytest.mark.timeout(1800)  # two runs of a system at smoke size
def test_every_command_prints_the_documented_output(checkout):
    """From the choice of the profile on: the first section sets up, the last one links to other pages."""
    done = []
    for title, commands in list(sections().items())[1:-1]:
        for command, shown in commands:
            output = checkout(command, "".join(f"{line}\n" for line in TYPED.findall(shown)))
            for line in filter(STEADY.fullmatch, shown.splitlines()):
                assert line in output, f"{title}: {command}\n{output}"
            if not shown or "Running stage" not in shown:
                assert "Running stage" not in output, f"{title}: {command}"
            done.append(command)
    assert len(done) > 20
    assert checkout("git status --porcelain --untracked-files=no") == ""  # the game that was left is saved, too
    assert "up to date" in checkout("dvc --cd ../zugwerk-2 status gomoku_evaluate")
