import numpy as np
import pytest
import torch
import yaml

from bench import fit_amazons
from bench.tune_amazons import read_set
from pipeline_src.errors import ZugwerkError
from pipeline_src.search.amazons.evaluation import make_evaluator, value_of
from pipeline_src.search.amazons.params import AmazonsEngine
from pipeline_src.search.amazons.terms import terms
from tests.search.amazons.reference import games

ENGINE = AmazonsEngine(
    phases=[{"w": 0, "t1": 1}, {"w": 10, "t1": 0.5, "t2": 0.2, "e": -1, "one": 0.3}, {"w": 40, "t1": 0.2, "c2": 0.4}]
)


@pytest.fixture
def command(monkeypatch):
    def run(*words):
        monkeypatch.setattr("sys.argv", ["fit_amazons", *map(str, words)])
        fit_amazons.main()

    return run


@pytest.fixture
def folder(tmp_path, command, monkeypatch):
    """Five short games."""
    monkeypatch.setattr(fit_amazons, "SHARD", 2)
    command("games", tmp_path / "games", "--count", 5, "--nodes", 4000)
    return tmp_path / "games"


def made_rows(count):
    rng = np.random.default_rng(0)
    rows = rng.normal(0, 1.5, (count, len(fit_amazons.COLUMNS)))
    rows[:, 4] = rng.uniform(0, 50, count)
    rows[:, 7] = fit_amazons.foreseen(rows, ENGINE)
    rows[:, 8], rows[:, 9] = 0, np.arange(count) // 10
    return rows


def test_weights_that_made_the_labels_are_found_again():
    table = fit_amazons.train(made_rows(8000), 0, knots=(10.0, 40.0), epochs=16)
    found = AmazonsEngine(phases=table.phases()).table()
    np.testing.assert_allclose(found, ENGINE.table(), atol=0.03)


def test_the_same_rows_and_seed_give_the_same_weights():
    rows = made_rows(600)
    first, again, other = (fit_amazons.train(rows, seed, epochs=2).phases() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_kernel_computes_what_was_trained():
    torch.manual_seed(0)
    table = fit_amazons.WeightTable((8.0, 30.0), np.ones(6))
    table.weights.data = torch.randint(-100, 100, (2, 6)) / 100
    evaluator = make_evaluator(AmazonsEngine(phases=table.phases()))
    for state in list(games(8, 1, True, 3))[2:30:4]:
        row = torch.tensor([[*terms(state, 0.2), 0, 0, 0]], dtype=torch.float32)
        assert value_of(state, evaluator) == pytest.approx(table(row).item(), abs=1e-4)


def test_what_the_games_foresee_is_what_the_evaluation_says(folder):
    evaluator = make_evaluator(ENGINE)
    for state in list(games(10, 1, True, 3))[2:40:6]:
        row = np.array([[*terms(state, 0.2), 0, 0, 0]])
        assert value_of(state, evaluator) == pytest.approx(fit_amazons.foreseen(row, ENGINE)[0])


def test_a_killed_run_goes_on_and_makes_the_same_games(folder, command):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(before) == ["0000.npy", "0001.npy", "0002.npy"]
    (folder / "0001.npy").unlink()
    command("games", folder, "--count", 5, "--nodes", 4000)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    rows = fit_amazons.read_rows([folder])
    assert rows.shape[1] == len(fit_amazons.COLUMNS)
    assert set(rows[:, -1]) == {0, 1, 2, 3, 4}
    assert set(rows[:, -2]) == {-1, 0, 1}
    assert len(set(fit_amazons.read_rows([folder, folder])[:, -1])) == 10


def test_the_table_is_written_as_params_have_it(folder, command, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(fit_amazons, "EPOCHS", 2)
    out = tmp_path / "weights.yaml"
    command("fit", folder, "--out", out)
    assert "new: error" in capsys.readouterr().out
    assert read_set(str(out)).table().shape == (1 + len(fit_amazons.KNOTS), 8)
    assert list(yaml.safe_load(out.read_text())) == ["amazons_engine"]
    assert read_set("hand") == AmazonsEngine(weights="hand")


def test_bad_files_are_named(tmp_path, command):
    with pytest.raises(ZugwerkError, match="empty holds no games"):
        command("fit", tmp_path / "empty")
    (tmp_path / "a").mkdir()
    np.save(tmp_path / "a" / "0000.npy", np.zeros((3, 2)))
    with pytest.raises(ZugwerkError, match=r"0000\.npy does not hold rows"):
        command("fit", tmp_path / "a")
    (tmp_path / "a" / "0000.npy").write_bytes(b"torn")
    with pytest.raises(ZugwerkError, match=r"0000\.npy cannot be read"):
        command("fit", tmp_path / "a")
    with pytest.raises(ZugwerkError, match=r"none\.yaml"):
        command("games", tmp_path / "b", "--weights", tmp_path / "none.yaml")
