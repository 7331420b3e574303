from pathlib import Path

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import crew
from pipeline_src.parallel.crew import admit, issue, withdraw


@pytest.fixture
def ticket(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(crew, "VISIBLE_S", 0.1)
    monkeypatch.setattr(crew, "_ADMITTED", set())
    found = issue()
    yield found
    withdraw(found)


def refused(ticket):
    with pytest.raises(ZugwerkError) as error:
        admit(ticket)
    return str(error.value)


def test_worker_with_same_code_and_folder_is_admitted(ticket, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    admit(ticket)
    assert Path.cwd() == tmp_path
    withdraw(ticket)
    assert not list((tmp_path / "work").iterdir())
    admit(ticket)  # looked at once


@pytest.mark.parametrize("name", ["Python", "zugwerk", "numba", "distributed"])
def test_another_version_is_refused(ticket, name):
    message = refused(ticket._replace(versions={**ticket.versions, name: "9.9"}))
    assert f"{'the sources of zugwerk are' if name == 'zugwerk' else name + ' is'}" in message
    assert "9.9 here" in message
    assert "restart it" in message


def test_worker_with_changed_sources_is_refused(ticket, monkeypatch):
    monkeypatch.setattr(crew, "SOURCES", "0" * 64)
    assert "were changed after it started" in refused(ticket)


def test_a_folder_that_is_not_shared_is_refused(ticket):
    withdraw(ticket)
    message = refused(ticket)
    assert ticket.folder in message
    assert "file system that all machines share" in message
    assert "file system" in refused(ticket._replace(folder=str(Path("/no/such/folder"))))
