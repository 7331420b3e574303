import grp
import os
import pwd
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.project import code
from pipeline_src.project.code import Code, cache_root, home, private, read_source


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A small package of one's own; the memo goes to the test's folder."""
    monkeypatch.setenv("ZUGWERK_CACHE", str(tmp_path / "cache"))

    def write(**files):
        for name, text in files.items():
            path = tmp_path / "pipeline_src" / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Code(tmp_path)

    for package in ("", "rules"):
        folder = tmp_path / "pipeline_src" / package
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
    return write


TEXT = '''"""Head."""

import os  # a comment


def f(a: int) -> str:
    """What it does,

    in lines."""
    text = """kept

    # as it stands  """
    return text + "# no comment"  # a comment
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Head."""', '"""Another head,\n\nlonger."""'),
        ("# a comment", "# another"),
        ("  # a comment", ""),
        ("\n\n\ndef", "\n\n\n\n\n# above\ndef"),
        ("    text =", '    "alone"\n    text ='),
        ("int) -> str:\n", "int) -> str:   \n"),
        ('in lines."""', 'in lines"""  # und Ümlaute'),
    ],
)
def test_comments_docstrings_and_blank_lines_do_not_count(old, new):
    assert old in TEXT
    assert read_source(TEXT.replace(old, new)) == read_source(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a: int", "a: float"),
        ("# no comment", "# another text"),
        ("kept\n\n", "kept\n"),
        ("stands  ", "stands"),
        ("import os", "import re"),
        ('    text = """', '    text = b"""'),
        ('"""What it does,\n\n    in lines."""', '"""Doc."""; a += 1'),
    ],
)
def test_other_code_changes_count(old, new):
    assert old in TEXT
    assert read_source(TEXT.replace(old, new)).digest != read_source(TEXT).digest


def test_docstring_on_a_line_with_code_is_removed_alone():
    assert read_source('class A: """Doc."""').digest == read_source("class A: ''").digest
    assert read_source('class A: """Doc."""').digest != read_source('class B: """Doc."""').digest
    assert read_source("x = 1; 'a note'; y = 2").digest != read_source("x = 1; 'a note'; y = 3").digest


def test_the_closure_follows_imports_names_in_quotes_and_packages(tree):
    found = tree(
        a="from pipeline_src.rules import moves\nfrom pipeline_src.b import thing",
        b="def f():\n    import pipeline_src.c",
        c="import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pipeline_src.d'])",
        d="SETTINGS = {'MIDDLEWARES': {'pipeline_src.e.Retrying': 550}}",
        e="import os",
        other="from pipeline_src import a",
        **{"rules/moves": ""},
    )
    names = ["", ".a", ".b", ".c", ".d", ".e", ".rules", ".rules.moves"]
    assert found.closure("pipeline_src.a") == [f"pipeline_src{name}" for name in names]
    assert found.closure("pipeline_src.c", "pipeline_src.e") == [f"pipeline_src{n}" for n in ("", ".c", ".d", ".e")]
    chain = found.path(["pipeline_src.a"], "pipeline_src.e")
    assert chain == [f"pipeline_src.{name}" for name in "abcde"]
    assert found.path(["pipeline_src.e"], "pipeline_src.a") == []


def test_the_digest_is_that_of_the_closure_alone(tree):
    before = tree(a="import pipeline_src.b", b="x = 1", c="y = 1").digest("pipeline_src.a")
    assert tree(c="y = 2").digest("pipeline_src.a") == before
    assert tree(b="x = 1  # a comment").digest("pipeline_src.a") == before
    assert tree(b="x = 2").digest("pipeline_src.a") != before
    assert tree(b="x = 1").digest("pipeline_src.a") == before
    assert tree(**{"rules/__init__": "z = 1"}).digest("pipeline_src.a") == before
    assert tree(__init__="version = 2").digest("pipeline_src.a") == before  # changes no output
    inner = tree(a="import pipeline_src.rules.moves", **{"rules/moves": "x = 1"}).digest("pipeline_src.a")
    after = tree(**{"rules/__init__": "import pipeline_src.rules.kernels", "rules/kernels": ""})
    assert after.digest("pipeline_src.a") != inner


def test_the_memo_changes_nothing_and_may_be_damaged(tree, tmp_path):
    before = tree(a="x = 1").digest("pipeline_src.a")
    memo = tmp_path / "cache" / code._MEMO
    assert memo.exists()
    assert tree().digest("pipeline_src.a") == before
    memo.write_text("{ half")
    assert tree().digest("pipeline_src.a") == before
    stamp = (tmp_path / "pipeline_src/a.py").stat()
    found = tree(a="x = 7")
    os.utime(tmp_path / "pipeline_src/a.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1))
    assert found.digest("pipeline_src.a") != before


def test_unknown_modules_and_files_are_refused(tree):
    with pytest.raises(ZugwerkError, match=r"pipeline_src\.nothing: no module of pipeline_src or spiders"):
        tree().digest("pipeline_src.nothing")
    with pytest.raises(ZugwerkError, match=r"README\.md: no source file"):
        Code().module("README.md")
    with pytest.raises(ZugwerkError, match="no source file"):
        Code().module("/etc/passwd")


def test_digests_import_no_described_module():
    program = (
        "import sys; from pipeline_src.project.code import digest; digest('pipeline_src.systems.amazons_net.train');"
        "print(sorted({'torch', 'numpy', 'numba', 'pipeline_src.games'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=code.ROOT)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Folders for the user's cache and for temporary files; the first is the cache."""
    (tmp_path / "spare").mkdir()
    monkeypatch.setenv("ZUGWERK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spare"))
    code._own_folder.cache_clear()
    yield tmp_path
    code._own_folder.cache_clear()


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o1777])
def test_a_cache_that_others_may_write_is_not_used(elsewhere, caplog, mode):
    """What lies there would be unpickled and run."""
    (elsewhere / "cache").mkdir()
    (elsewhere / "cache").chmod(mode)
    spare = elsewhere / "spare" / f"zugwerk-{os.getuid()}"
    assert [cache_root(), cache_root()] == [spare, spare]
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith(f"{elsewhere}/cache: another user may write there, so the cache is in {spare}; ")
    spare.chmod(0o777)
    own = cache_root()
    assert own.parent == elsewhere / "spare"
    assert own not in (spare, elsewhere / "cache")
    assert cache_root() == own
    assert own.stat().st_mode & 0o777 == 0o700


def test_cache_that_cannot_be_made_is_reported_once(elsewhere, caplog, monkeypatch):
    (elsewhere / "file").touch()
    monkeypatch.setenv("ZUGWERK_CACHE", str(elsewhere / "file/cache"))
    spare = elsewhere / "spare" / f"zugwerk-{os.getuid()}"
    assert [cache_root(), cache_root()] == [spare, spare]
    assert os.environ["ZUGWERK_CACHE"] == str(spare)
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith(f"{elsewhere}/file/cache: it cannot be written, so the cache is in {spare}; ")


@pytest.fixture
def homeless(elsewhere, monkeypatch):
    """A user without HOME, name and entry in passwd, as of a container; the folder that takes the place of a home."""

    def unknown(_):
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "LOGNAME", "USER", "LNAME", "USERNAME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "")
    monkeypatch.delenv("ZUGWERK_CACHE")
    return elsewhere / "spare" / f"zugwerk-{os.getuid()}"


def test_user_without_a_home_gets_one_in_the_temporary_folder(homeless, caplog):
    assert [cache_root(), cache_root()] == [homeless / ".cache/zugwerk"] * 2
    assert (os.environ["HOME"], os.environ["USER"]) == (str(homeless), str(os.getuid()))  # for DVC, Prefect and torch
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith(f"this user has no home, so {homeless} takes its place; ")
    assert homeless.stat().st_mode & 0o777 == 0o700


def test_temporary_home_is_private(homeless):
    homeless.mkdir()
    homeless.chmod(0o777)
    assert home() != homeless
    assert home().parent == homeless.parent
    assert home().stat().st_mode & 0o777 == 0o700


def test_chosen_cache_needs_no_home_and_is_this_users_alone(homeless, elsewhere, caplog, monkeypatch):
    monkeypatch.setenv("ZUGWERK_CACHE", str(elsewhere / "cache"))
    assert cache_root() == elsewhere / "cache"
    assert (elsewhere / "cache").stat().st_mode & 0o777 == 0o700
    assert not caplog.records


def test_folder_below_a_world_writable_one_is_not_private(tmp_path):
    (tmp_path / "open/inner").mkdir(parents=True)
    assert private(tmp_path / "open/inner")
    (tmp_path / "open").chmod(0o777)
    assert not private(tmp_path / "open/inner")
    (tmp_path / "open").chmod(0o1777)  # there, nobody may rename what is another's
    assert private(tmp_path / "open/inner")


def test_folder_of_a_different_user_is_not_private(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert private(tmp_path) == (tmp_path.stat().st_uid == 0)  # root may write anywhere as it is
    if os.getuid() == 0:
        os.chown(tmp_path, 4321, -1)
        assert not private(tmp_path)


def test_group_with_one_member_counts_as_that_user(tmp_path, monkeypatch):
    me = pwd.getpwuid(os.geteuid())
    os.chown(tmp_path, -1, me.pw_gid)
    tmp_path.chmod(0o770)
    for name, members, alone in ((me.pw_name, [], True), (me.pw_name, ["eve"], False), ("users", [], False)):
        monkeypatch.setattr(grp, "getgrgid", lambda _, n=name, m=members: SimpleNamespace(gr_name=n, gr_mem=m))
        assert private(tmp_path) == alone
