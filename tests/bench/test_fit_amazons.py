import numpy as np
import pytest

from bench import fit_amazons
from pipeline_src.search.amazons.evaluation import PARITY


def test_weights_that_made_the_labels_are_found_again():
    rng = np.random.default_rng(0)
    weights = np.array([[0.5, 0.2, 0.1, 0.0], [0.2, 0.3, -0.1, 0.4]])
    features, w = rng.normal(0, 5, (4000, 4)), rng.uniform(0, 40, 4000)
    at_knots = np.vstack([[1, 0, 0, 0], weights])
    labels = sum(np.interp(w, [0, 10, 30], at_knots[:, i]) * features[:, i] for i in range(4))
    labels -= PARITY * np.interp(w, [0, 10], [1, 0])
    found, foreseen = fit_amazons.fit(np.column_stack([features, w, labels]), [10.0, 30.0])
    assert found == pytest.approx(weights, abs=0.01)
    assert foreseen == pytest.approx(labels, abs=0.2)


def test_labels_are_searched_and_the_command_prints_weights(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(fit_amazons, "DEPTH", 2)
    path = tmp_path / "fit" / "rows.npy"
    for words in (["label", str(path), "--positions", "12"], ["fit", str(path), "--knots", "40"]):
        monkeypatch.setattr("sys.argv", ["fit_amazons", *words])
        fit_amazons.main()
    rows = np.load(path)
    assert rows.shape == (12, 6)
    assert (rows[:, 4] >= 0.5).all()
    assert "40: t1 " in capsys.readouterr().out
