import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.reference.compare import WORKSPACE, opened
from tests.report.project import estimate, git, make_project, write

MATCH = "artifacts/reports/amazons/match.json"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


def test_a_commit_is_unpacked_and_removed_afterwards(project):
    with opened("HEAD~1", project) as one:
        assert read_json(one.folder / MATCH)["random"]["score"]["value"] == 0.2
        assert one.params()["seed"] == 1
        assert one.commit == git(project, "rev-parse", "HEAD~1")
        assert one.commit.startswith(one.for_dvc)
        assert one.title == f"HEAD~1 ({one.commit[:7]})"
        folder = one.folder
    assert not folder.exists()


def test_reports_missing_in_git_come_from_dvc_cache(tmp_path):
    project = make_project(tmp_path)
    stages = {
        name: {"outs": [{"path": f"artifacts/reports/amazons/{name}", "md5": digest}]}
        for name, digest in (("new.json", "aa01"), ("folder", "bb02.dir"), ("match.json", "aa01"), ("gone.json", "cc"))
    }
    (project / "dvc.lock").write_text(yaml12.dump({"schema": "2.0", "stages": stages}))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Three")
    files = {"aa/01": '{"a": 1}', "bb/02.dir": '[{"md5": "dd03", "relpath": "deep/b.csv"}]', "dd/03": "b\n"}
    for name, text in files.items():
        (project / ".dvc/cache/files/md5" / name).parent.mkdir(parents=True, exist_ok=True)
        (project / ".dvc/cache/files/md5" / name).write_text(text)
    with opened("HEAD", project) as one:
        reports = one.folder / "artifacts/reports/amazons"
        assert read_json(reports / "new.json") == {"a": 1}
        assert (reports / "folder/deep/b.csv").read_text() == "b\n"
        assert "random" in read_json(reports / "match.json")  # git's
        assert not (reports / "gone.json").exists()


def test_an_experiment_is_found_by_its_name(project):
    with opened("wide", project) as one:
        assert one.commit == git(project, "rev-parse", "HEAD~1")


def test_the_workspace_is_the_folder_and_knows_whether_it_differs(tmp_path):
    project = make_project(tmp_path)
    with opened(WORKSPACE, project) as one:
        assert (one.folder, one.changed, one.for_dvc) == (project, False, None)
    write(project, estimate(0.5, 0.4, 0.6), 1.0)
    with opened(WORKSPACE, project) as one:
        assert one.changed
        assert one.title.endswith(" and changes)")


@pytest.mark.parametrize("name", ["nowhere", "--upload-pack=x", "-h", "HEAD:params.yaml", ""])
def test_an_unknown_revision_is_a_clear_error(project, name):
    with pytest.raises(ZugwerkError, match="git knows no revision"), opened(name, project):
        pass


def test_experiments_with_the_same_name_need_their_refs(tmp_path):
    project = make_project(tmp_path)
    base = git(project, "rev-parse", "HEAD~1")
    git(project, "update-ref", f"refs/exps/{base[:2]}/{base[2:]}/wide", "HEAD")
    with (
        pytest.raises(ZugwerkError, match="several experiments are called 'wide'; give one of refs/exps/"),
        opened("wide", project),
    ):
        pass
    with opened(f"refs/exps/{base[:2]}/{base[2:]}/wide", project) as one:
        assert one.commit == git(project, "rev-parse", "HEAD")


def test_a_revision_without_metrics_and_a_folder_without_git(tmp_path, monkeypatch):
    plain = tmp_path / "plain"
    plain.mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(ZugwerkError, match="not a git repository"), opened("HEAD", plain):
        pass
    git(plain, "init", "-q", "-b", "main")
    with pytest.raises(ZugwerkError, match="git knows no revision 'HEAD'"), opened("HEAD", plain):
        pass
    git(plain, "commit", "-q", "--allow-empty", "-m", "Nothing")
    with pytest.raises(ZugwerkError, match="no metrics in artifacts/reports; `dvc repro` makes"), opened("HEAD", plain):
        pass
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ZugwerkError, match="git is not installed"), opened("HEAD", plain):
        pass
