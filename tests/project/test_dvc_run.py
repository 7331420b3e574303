"""Commands of DVC run, end and are reported; damage in its cache and outputs is found."""

import math
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from pipeline_src.cli.project import verify as command
from pipeline_src.errors import ZugwerkError
from pipeline_src.project import dvc_run, plots_page
from pipeline_src.project.dvc_run import (
    Children,
    DvcFailedError,
    EndedError,
    TimeLimitError,
    ask_dvc,
    push,
    repro,
    status,
    verify,
)
from tests.toy_checkout import add_remote, add_stage, all_end, holds_lock, is_gone, is_up, wait_for


@pytest.fixture
def lines():
    """Those that commands of the test have written."""
    return []


@pytest.fixture
def children():
    with Children() as some:
        yield some


def test_reports_result_of_a_target_and_streams_its_lines(checkout, lines, children):
    assert repro("toy_crawl", checkout, lines.append, children) == "ran"
    assert "crawled" in lines
    assert repro("toy_crawl", checkout, lines.append, children) == "up to date"
    assert repro("toy_crawl", checkout, lines.append, children, force=True) == "ran"
    assert (checkout / "pages.txt").read_text() == "page\n" * 2
    assert not (checkout / "reports").exists()


@pytest.mark.slow
def test_outputs_in_the_run_cache_are_restored(checkout, lines, children):
    (checkout / "dvc.yaml").write_text(
        "stages:\n  toy_copy:\n    cmd: cp in.txt out.txt\n    deps: [in.txt]\n    outs: [out.txt]\n"
    )
    states = []
    for text in ("1", "2", "1"):
        (checkout / "in.txt").write_text(text)
        states.append(repro("toy_copy", checkout, lines.append, children))
    assert states == ["ran", "ran", "restored"]
    assert (checkout / "out.txt").read_text() == "1"


@pytest.mark.slow
def test_status_names_targets_whose_digest_has_changed(checkout, lines, children):
    (checkout / "dvc.yaml").write_text(
        "stages:\n"
        "  a: {cmd: touch a, params: [code.json: [a]], outs: [a: {cache: false}]}\n"
        "  b: {cmd: touch b, params: [code.json: [b]], outs: [b: {cache: false}]}\n"
    )
    (checkout / "code.json").write_text('{"a": 1, "b": 1}')
    for name in ("a", "b"):
        repro(name, checkout, lines.append, children)
    (checkout / "code.json").write_text('{"a": 2, "b": 1}')
    for targets, told in (([], True), (["a"], True), (["b"], False)):
        lines.clear()
        status(targets, checkout, lines.append)
        assert ("a:" in lines) is told
        assert "b:" not in lines


def test_a_failing_stage_shows_its_last_lines(checkout, lines, children):
    (checkout / "fails.py").write_text("for n in range(50): print('line', n)\nraise SystemExit('no such game')")
    add_stage(checkout, "toy_fails", "python fails.py")
    with pytest.raises(DvcFailedError, match=r"toy_fails` failed(.|\n)*line 49\n  no such game\n") as failure:
        repro("toy_fails", checkout, lines.append, children)
    assert "line 0\n" not in str(failure.value)
    assert "line 0" in lines


def test_missing_dependency_without_stage_is_named(checkout, lines, children):
    (checkout / "dvc.yaml").write_text(
        "stages:\n  toy_crawl:\n    cmd: cp -r raw/toy/live out\n    deps: [raw/toy/live]\n    outs: [out]\n"
    )
    with pytest.raises(DvcFailedError, match=r"\n  raw/toy/live, which toy_crawl reads, is not there: `zugwerk crawl"):
        repro("toy_crawl", checkout, lines.append, children)


def test_words_of_dvc_that_are_unknown_are_an_error(checkout, lines, children, monkeypatch):
    monkeypatch.setattr(dvc_run, "run_dvc", lambda *_, **__: None)
    with pytest.raises(DvcFailedError, match="`dvc repro toy_crawl` did not say whether the stage ran"):
        repro("toy_crawl", checkout, lines.append, children)


@pytest.mark.slow
def test_pushes_the_outputs_of_its_targets(checkout, lines, children):
    remote = add_remote(checkout)
    repro("toy_crawl", checkout, lines.append, children)
    repro("toy_save", checkout, lines.append, children)
    push(["toy_crawl"], checkout, lines.append, limit_s=60)
    assert not list(remote.rglob("*"))
    push(["toy_crawl", "toy_save"], checkout, lines.append, limit_s=60)
    assert [path.read_text() for path in remote.rglob("*") if path.is_file()] == ["saved\n"]
    assert "1 file pushed" in lines


@pytest.mark.slow
def test_a_remote_that_takes_nothing_is_an_error(checkout, lines, children):
    add_remote(checkout).write_text("no folder")
    repro("toy_save", checkout, lines.append, children)
    with pytest.raises(DvcFailedError, match=r"`dvc --wait-for-lock push` failed(.|\n)*(?i:not a directory|exists)"):
        push([], checkout, lines.append, limit_s=60)


@pytest.mark.slow
def test_the_time_limit_ends_the_whole_family(checkout, lines, children, monkeypatch):
    class OnceUp(threading.Timer):
        """Its time passes once the family is up, which is not waited for by the clock."""

        def run(self):
            assert 590 < self.interval <= 600
            wait_for(lambda: is_up(checkout))
            self.function()

    monkeypatch.setattr(dvc_run, "threading", SimpleNamespace(Event=threading.Event, Timer=OnceUp))
    add_stage(checkout, "toy_hang", "python family.py")
    limit = pytest.raises(TimeLimitError, match=r"stopped at its time limit(.|\n)*family is up")
    with all_end(checkout, limit_s=200), limit:
        repro("toy_hang", checkout, lines.append, children, limit_s=600)
    assert is_up(checkout)
    assert is_gone(checkout)


def test_command_runs_with_an_endless_limit(tmp_path, lines, children):
    status, _ = dvc_run.attempt(["this"], tmp_path, lines.append, children, math.inf, {})
    assert (status, lines[0]) == (0, "The Zen of Python, by Tim Peters")


@pytest.mark.slow
def test_exception_ends_whole_process_family_and_next_run_works(checkout, children):
    class Cancelled(BaseException):
        pass

    def cancel(line):
        if line == "family is up":
            wait_for(lambda: is_up(checkout))
            raise Cancelled

    add_stage(checkout, "toy_hang", "true && python family.py")  # `&&`: the shell stays as its parent
    with all_end(checkout), pytest.raises(Cancelled):
        repro("toy_hang", checkout, cancel, children)
    assert is_gone(checkout)
    assert not holds_lock(checkout, "toy_hang")
    assert repro("toy_crawl", checkout, cancel, children) == "ran"


@pytest.mark.slow
def test_ending_all_ends_other_threads_and_starts_no_more(checkout, lines):
    add_stage(checkout, "toy_hang", "python family.py")
    add_stage(checkout, "toy_sleep", "echo asleep && sleep 600")
    with all_end(checkout), Children() as children:
        running = [children.submit(repro, name, checkout, lines.append, children) for name in ("toy_hang", "toy_sleep")]
        wait_for(lambda: is_up(checkout) and "asleep" in lines)
    assert all(isinstance(one.exception(), EndedError) for one in running)
    assert is_gone(checkout)
    with pytest.raises(EndedError):
        repro("toy_crawl", checkout, lines.append, children)
    assert not (checkout / "pages.txt").exists()


@pytest.mark.slow
def test_sigkill_of_the_owner_leaves_nothing(checkout):
    add_stage(checkout, "toy_hang", "python family.py stubborn")
    with owner_of("toy_hang", checkout, limit_s=60) as owner:
        wait_for(lambda: is_up(checkout))
        assert holds_lock(checkout, "toy_hang")
        owner.kill()
        owner.wait()
        wait_for(lambda: is_gone(checkout))
        assert not holds_lock(checkout, "toy_hang")


@pytest.mark.slow
def test_sigkill_of_the_supervisor_still_ends_at_the_limit(checkout):
    add_stage(checkout, "toy_hang", "touch begun && sleep 600")
    with owner_of("toy_hang", checkout, limit_s=600, timer=FIRST_KILLED) as owner:
        wait_for((checkout / "begun").exists)
        psutil.Process(owner.pid).children()[0].kill()
        (checkout / "killed").touch()
        assert owner.wait(timeout=120) != 0
        assert is_gone(checkout)


FIRST_KILLED = """
import threading, time
from types import SimpleNamespace
from pathlib import Path
from pipeline_src.project import dvc_run
class Timer(threading.Timer):
    def run(self):
        while not Path({killed!r}).exists():
            time.sleep(0.05)
        self.function()
dvc_run.threading = SimpleNamespace(**(vars(threading) | dict(Timer=Timer)))
"""  # The time passes once the test says so


@contextmanager
def owner_of(target, checkout, limit_s, timer=""):
    """A process of its own that calls `repro`."""
    program = f"""{timer.format(killed=str(checkout / "killed"))}
from pathlib import Path
from pipeline_src.project.dvc_run import Children
from pipeline_src.project.dvc_run import repro
repro({target!r}, Path({str(checkout)!r}), str, Children(), limit_s={limit_s})
"""
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL) as owner:
        try:
            yield owner
        finally:
            owner.kill()


@pytest.mark.slow
def test_waits_while_another_process_holds_the_output(checkout, lines, children, monkeypatch):
    def hear(line):
        lines.append(line)
        if "another DVC process is at work" in line:
            (checkout / "released").touch()

    with holding_pages(checkout):
        with monkeypatch.context() as impatient:
            impatient.setattr(dvc_run, "FIRST_WAIT_S", 1_000.0)  # longer than the limit: one attempt is all there is
            with pytest.raises(DvcFailedError, match=dvc_run.BUSY):
                repro("toy_count", checkout, lines.append, children, limit_s=60)
        assert repro("toy_count", checkout, hear, children, limit_s=240) == "ran"
    assert (checkout / "released").exists()


@contextmanager
def holding_pages(checkout):
    """Another DVC process is in the middle of the crawl until it is released, or the block has ended."""
    text = (checkout / "dvc.yaml").read_text()
    (checkout / "dvc.yaml").write_text(text.replace("echo crawled", "until test -e released; do sleep 0.1; done"))
    with ThreadPoolExecutor() as pool, Children() as children:
        other = pool.submit(repro, "toy_crawl", checkout, str, children)
        wait_for((checkout / "pages.txt").exists)
        try:
            yield
        finally:
            (checkout / "released").touch()
        assert other.result() == "ran"


@pytest.mark.parametrize("file", ["dvc.lock", "dvc.yaml", "params.yaml"])
def test_files_with_both_sides_of_a_merge_are_named(tmp_path, file):
    (tmp_path / file).write_text("stages: {}\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\n")
    with pytest.raises(ZugwerkError, match=rf"{file}: line 2 has the marker of a merge conflict"):
        dvc_run.status([], tmp_path, print)
    with pytest.raises(ZugwerkError, match=rf"{file}: line 2 "):
        dvc_run.ask_dvc(tmp_path, "dag", "--dot")


DVC_YAML = f"""
stages:
  made:
    cmd: {sys.executable} make.py
    outs: [file.txt, folder]
    metrics: [report.json: {{cache: false}}]
"""
MAKE = """
from pathlib import Path
Path("folder/deep").mkdir(parents=True, exist_ok=True)
for name in ("file.txt", "folder/a.txt", "folder/deep/b.txt", "report.json"):
    Path(name).write_text(f'"{name}"')
"""
FILES = 4 + 4  # in the cache: a file, a folder's two and its list; and the outputs


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    (folder / "dvc.yaml").write_text(DVC_YAML)
    (folder / "make.py").write_text(MAKE)
    ask_dvc(folder, "init", "--no-scm", "--quiet")
    ask_dvc(folder, "repro", "--quiet")
    return folder


@pytest.fixture
def project(made, tmp_path):
    """A copy with its times, and with the state by which DVC knows it."""
    return Path(shutil.copytree(made, tmp_path / "project"))


def turn_a_bit(path):
    """As a disk does: neither time, nor size, nor mode change."""
    status, content = path.stat(), bytearray(path.read_bytes())
    content[2] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)
    path.chmod(status.st_mode)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def in_cache(folder, text):
    (found,) = (path for path in (folder / ".dvc/cache/files/md5").glob("*/*") if path.read_text() == text)
    return found


def test_new_outputs_are_undamaged(project):
    assert verify(project) == (FILES, [], [])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["report.json", "folder/deep/b.txt"])
def test_output_with_flipped_bit_is_named_and_dvc_notices(project, name):
    ask_dvc(project, "status")  # so that DVC has all of the copy's files in mind
    turn_a_bit(project / name)
    assert "up to date" in ask_dvc(project, "status")  # which is why there is this check
    assert verify(project) == (FILES, [], [Path(name)])
    assert name.partition("/")[0] in ask_dvc(project, "status")
    ask_dvc(project, "repro", "--quiet")
    assert verify(project) == (FILES, [], [])
    assert (project / name).read_text() == f'"{name}"'


@pytest.mark.slow
def test_a_damaged_file_of_the_cache_is_removed(project):
    damaged = in_cache(project, '"folder/a.txt"')
    turn_a_bit(damaged)
    assert verify(project) == (FILES, [damaged.relative_to(project)], [])
    assert not damaged.exists()
    ask_dvc(project, "repro", "--quiet")
    assert verify(project) == (FILES, [], [])
    assert damaged.read_text() == '"folder/a.txt"'


def test_files_of_a_folder_with_damaged_list_are_skipped(project):
    (listing,) = (project / ".dvc/cache/files/md5").glob("*/*.dir")
    turn_a_bit(listing)
    assert verify(project) == (FILES - 2, [listing.relative_to(project)], [])


def test_missing_files_are_left_to_dvc(project):
    (project / "file.txt").unlink()
    assert verify(project) == (FILES - 1, [], [])


def test_the_command_names_the_files_and_fails(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    command()
    assert capsys.readouterr().out == f"{FILES} files read, all as DVC knows them\n"
    damaged = in_cache(project, '"file.txt"')
    turn_a_bit(damaged)
    turn_a_bit(project / "report.json")
    with pytest.raises(
        ZugwerkError, match=f"2 of {FILES} files differ from the hashes that DVC has; `dvc repro` restores them"
    ):
        command()
    assert capsys.readouterr().out.splitlines() == [
        f"{damaged.relative_to(project)}: damaged; removed from the cache",
        "report.json: not the bytes in dvc.lock",
    ]


def test_outside_of_a_project(tmp_path):
    with pytest.raises(ZugwerkError, match=r"dvc\.lock: no such file; run in the project's folder"):
        verify(tmp_path)
    (tmp_path / "dvc.lock").write_text("stages: {a: {}}\n")
    with pytest.raises(ZugwerkError, match=r"\.dvc: no such folder, so there is no cache; run in a clone"):
        verify(tmp_path)


def test_a_lock_without_stages(project):
    (project / "dvc.lock").write_text("schema: '2.0'\n")
    with pytest.raises(ZugwerkError, match=r"dvc\.lock: no stages; `git checkout dvc.lock` restores it"):
        verify(project)


def test_plots_library_is_built_once(tmp_path, monkeypatch):
    monkeypatch.setattr(plots_page, "cache_root", lambda: tmp_path)
    (tmp_path / f"vega-{version('vl-convert-python')}.js").write_text("kept")
    assert plots_page.bundle() == "kept"


def test_page_contains_the_drawing_library_and_dvcs_placeholders(tmp_path, monkeypatch):
    monkeypatch.setattr(plots_page, "PAGE", tmp_path / "plots.html")
    plots_page.main()
    page = (tmp_path / "plots.html").read_text(encoding="utf-8")
    assert "window.vegaEmbed=" in page.replace(" = ", "=")
    assert len(page) > 500_000
    assert page.count("{plot_divs}") == page.count("{refresh_tag}") == 1
    assert "https://cdn" not in page
    assert page.count("</script>") == 1
