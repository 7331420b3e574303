"""docs/how-to/run-on-other-machines.md, followed on three hosts: a server, on PostgreSQL too, and two workers."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from flows import CHECKOUT
from tests.namespaces import hosts, needs_namespaces
from tests.toy_checkout import wait_for

PAGE = (CHECKOUT / "docs/how-to/run-on-other-machines.md").read_text()
SECRET = "SECRET"
DVC_YAML = """
stages:
  toy_first:
    cmd: echo first > first.txt
    outs: [first.txt]
  toy_meet:
    foreach: [a, b]
    do: # ends where both are under way at a time
      cmd: >-
        cat first.txt params.yaml > ${item}.txt && mkdir -p reports && echo '{"n":1}' > reports/${item}.json
        && touch MEET/${item} && until test -e MEET/a && test -e MEET/b; do sleep 0.2; done
      deps: [first.txt]
      params: [word]
      outs: ["${item}.txt"]
      metrics:
        - reports/${item}.json: {cache: false}
"""


class Host:
    """A machine: words that run a command there, a folder for its checkout, and variables of its terminal."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self.words, self.checkout, self.log = words, folder / "zugwerk", folder / "log.txt"
        folder.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT", "GIT"))}
        bin_folder = str(Path(sys.executable).parent)
        self.env = kept | {
            "PATH": f"{bin_folder}:{kept['PATH']}",
            "PYTHONPATH": str(self.checkout),  # the packages of this environment, the code of that checkout
            "PREFECT_HOME": str(folder / "prefect"),
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_WORKER_QUERY_SECONDS": "1",
            "DVC_NO_ANALYTICS": "1",
        }

    def run(self, command: str) -> str:
        """Run a command of the page in the checkout; return what it printed."""
        assert re.sub(r"\[.*\]", "", command).split("'")[0].strip() in PAGE, f"not in the page: {command}"
        return self.sh(command)

    def sh(self, command: str) -> str:
        done = subprocess.run(
            [*self.words, "bash", "-c", command], cwd=self.checkout, env=self.env, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    @contextlib.contextmanager
    def running(self, command: str, ready: str) -> Iterator[None]:
        """Run a command of the page for the block, from when it says that it is ready."""
        assert command in PAGE
        with open(self.log, "w") as log:
            process = subprocess.Popen(
                [*self.words, *command.split()], cwd=self.checkout, env=self.env, stdout=log, stderr=log
            )
        try:
            wait_for(lambda: process.poll() is not None or ready in self.log.read_text(), limit_s=240)
            assert process.poll() is None, self.log.read_text()
            yield
        finally:
            process.terminate()
            process.wait(120)


def repository(folder: Path) -> Path:
    """A git server with the code of this checkout and a small graph: all was made and pushed, then a param changed."""
    begun, meet = folder / "begun", folder / "meet"
    unused = shutil.ignore_patterns("__pycache__", "nets", "static")
    for part in ("flows", "pipeline_src"):
        shutil.copytree(CHECKOUT / part, begun / part, ignore=unused)
    (begun / "dvc.yaml").write_text(DVC_YAML.replace("MEET", str(meet)))
    (begun / ".gitignore").write_text("__pycache__/\nwork/\n")
    meet.mkdir()
    for item in "ab":
        (meet / item).touch()
    dvc = [sys.executable, "-m", "dvc"]
    commit = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "A graph"]

    def run(*commands: list[str]) -> None:
        for words in commands:
            subprocess.run(words, cwd=begun, check=True, stdout=subprocess.DEVNULL)

    (begun / "params.yaml").write_text("profile: toy\nword: old\n")
    run(
        ["git", "init", "--quiet", "--initial-branch", "main"],
        [*dvc, "init", "--quiet"],
        [*dvc, "remote", "add", "--quiet", "--default", "storage", str(folder / "storage")],
        [*dvc, "repro", "--quiet"],
        [*dvc, "push", "--quiet"],
    )
    (begun / "params.yaml").write_text("profile: toy\nword: new\n")
    for item in "ab":
        (meet / item).unlink()
    run(["git", "add", "--all"], commit, ["git", "clone", "--quiet", "--bare", ".", str(folder / "server.git")])
    return folder / "server.git"


@contextlib.contextmanager
def postgres(host: Host) -> Iterator[None]:
    """A database server of that host's loopback, with a password."""
    with tempfile.TemporaryDirectory() as name:
        shutil.chown(name, "postgres")
        data, password = Path(name) / "data", Path(name) / "password"
        password.write_text(SECRET)
        shutil.chown(password, "postgres")
        words = ["initdb", "-D", str(data), "-A", "scram-sha-256", "-U", "postgres", "--pwfile", str(password)]
        binary = Path(shutil.which("postgres") or "").resolve().parent
        demoted = ["runuser", "-u", "postgres", "--"]
        subprocess.run([*demoted, str(binary / words[0]), *words[1:]], cwd=name, check=True, stdout=subprocess.DEVNULL)
        command = [*host.words, *demoted, str(binary / "postgres"), "-D", str(data), "-k", name, "-h", "127.0.0.1"]
        with open(Path(name) / "log.txt", "w") as log:
            process = subprocess.Popen(command, cwd=name, stdout=log, stderr=log)
        try:
            wait_for(lambda: "ready to accept connections" in (Path(name) / "log.txt").read_text())
            yield
        finally:
            process.terminate()
            process.wait(60)


@contextlib.contextmanager
def serving(head: Host, *others: Host) -> Iterator[None]:
    """The server of the page, with its pool and its deployment, known to all hosts."""
    with head.running("prefect server start --host 10.0.0.1", "Check out the dashboard at"):
        health = "until curl --silent --fail http://10.0.0.1:4200/api/health; do sleep 0.5; done"
        head.sh(f"timeout 240 bash -c '{health}'")
        for host in (head, *others):
            host.env["PREFECT_API_URL"] = "http://10.0.0.1:4200/api"
        head.run("prefect work-pool create machines --type process")
        head.run("prefect --no-prompt deploy --all --prefect-file flows/machines.yaml")
        yield


def working(host: Host) -> contextlib.AbstractContextManager[None]:
    """A worker of the page."""
    host.env["ZUGWERK_CHECKOUT"] = str(host.checkout)
    return host.running("prefect worker start --pool machines --limit 1", "Worker 'ProcessWorker")


@pytest.mark.slow
@pytest.mark.timeout(900)
@needs_namespaces
@pytest.mark.skipif(not shutil.which("postgres"), reason="no PostgreSQL here")
def test_two_machines_run_targets_and_return_branches(tmp_path: Path) -> None:
    server = repository(tmp_path)
    with hosts(3) as made, contextlib.ExitStack() as stack:
        head, *workers = (Host(words, tmp_path / address) for address, words in made)
        for host in (head, *workers):
            subprocess.run(["git", "clone", "--quiet", str(server), str(host.checkout)], check=True)
        stack.enter_context(postgres(head))
        head.env["PGPASSWORD"] = SECRET
        head.run("createdb --host 127.0.0.1 --username postgres prefect")
        (url,) = re.findall(r"PREFECT_API_DATABASE_CONNECTION_URL=(\S+)", PAGE)
        head.env["PREFECT_API_DATABASE_CONNECTION_URL"] = url
        stack.enter_context(serving(head, *workers))
        for host in workers:
            stack.enter_context(working(host))
        for item in "ab":
            head.run(f"prefect deployment run reproduce/machines --param 'targets=[\"toy_meet@{item}\"]'")

        def branches() -> list[str]:
            head.run("git fetch")
            return head.sh("git branch --remotes --list 'origin/runs/*'").split()

        def logs() -> str:
            return "\n".join(host.log.read_text() for host in workers)

        wait_for(lambda: len(branches()) == 2 or "| ERROR" in logs(), limit_s=400)
        assert len(branches()) == 2, logs()
        author = "git -c user.name=A -c user.email=a@example.org"
        for branch in branches():
            head.sh(f"{author} merge --quiet {branch}")
        head.run("dvc pull")
        made_of = "first\nprofile: toy\nword: new\n"
        assert [(head.checkout / f"{name}.txt").read_text() for name in "ab"] == [made_of] * 2
        assert "Task run 'toy_first'" not in logs()  # it was pulled
        assert "up to date" in head.sh("dvc status")
        assert all("Task run 'toy_meet@" in host.log.read_text() for host in workers)
        stored = head.sh('psql -h 127.0.0.1 -U postgres -d prefect -Atc "select count(*) from flow_run"')
        assert int(stored) == 2


@pytest.mark.slow
@pytest.mark.timeout(900)
@needs_namespaces
def test_the_run_of_a_gone_machine_ends_on_another(tmp_path: Path) -> None:
    server, meet = repository(tmp_path), tmp_path / "meet"
    with hosts(3) as made, contextlib.ExitStack() as stack:
        head, gone, other = (Host(words, tmp_path / address) for address, words in made)
        for host in (head, gone, other):
            subprocess.run(["git", "clone", "--quiet", str(server), str(host.checkout)], check=True)
            host.env["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] = "30"  # its least
        stack.enter_context(serving(head, gone, other))
        sooner = head.checkout / "flows/gone.yaml"
        sooner.write_text(sooner.read_text().replace("within: 600", "within: 45"))
        head.run("prefect automation create --from-file flows/gone.yaml")
        with working(gone):
            head.run("prefect deployment run reproduce/machines --param 'targets=[\"toy_meet@a\"]'")
            wait_for(lambda: (meet / "a").exists(), limit_s=240)
            for process in psutil.process_iter():  # at once, so that none reports how it ended
                with contextlib.suppress(psutil.Error):
                    if process.environ().get("ZUGWERK_CHECKOUT") == gone.env["ZUGWERK_CHECKOUT"]:
                        process.kill()
        (meet / "b").touch()  # the stage may end
        with working(other):
            wait_for(lambda: "runs/" in head.sh("git ls-remote origin 'refs/heads/runs/*'"), limit_s=400)
            wait_for(lambda: "completed" in head.sh("COLUMNS=200 prefect flow-run ls --limit 1").lower())
        assert "Task run 'toy_meet@a" in other.log.read_text()
