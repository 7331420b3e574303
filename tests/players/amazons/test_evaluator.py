import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.amazons import amazons_engine, make_evaluator
from pipeline_src.players.registry import make_player
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.search.amazons.evaluation import HAND, LEARNED, AmazonsEngine


def test_defaults_without_a_params_file_or_section(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert amazons_engine() == AmazonsEngine()
    (tmp_path / "params.yaml").write_text("seed: 1\n")
    assert amazons_engine() == AmazonsEngine()
    assert np.array_equal(make_evaluator().knots[1:, :8], AmazonsEngine().table()[1:])


def test_weights_of_the_params_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "amazons_engine: {tempo: 0.1, phases: [{w: 0, t1: 1}, {w: 20, t1: 0.5, t2: 0.5}]}\n"
    (tmp_path / "params.yaml").write_text(text)
    evaluator = make_evaluator()
    assert evaluator.tempo[0] == 0.1
    assert evaluator.knots[:, :7].tolist() == [[0, 1, 0, 0, 0, 0, 0], [20, 0.5, 0.5, 0, 0, 0, 0]]


def test_bad_weights_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("amazons_engine: {phases: [{w: 3, t1: 1}]}\n")
    with pytest.raises(ZugwerkError, match="w = 0"):
        make_evaluator()


def test_alphabeta_option_weights_replace_those_of_params(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("amazons_engine: {phases: [{w: 0, t1: 1}, {w: 20, t1: 0.5, t2: 0.5}]}\n")
    knots = {}
    for words in ("alphabeta", "alphabeta:weights=hand", "alphabeta:weights=learned"):
        player = make_player("amazons", words)
        assert isinstance(player, SearchPlayer)
        knots[words] = player.searcher.searcher.evaluator.knots[:, 0].tolist()
    assert list(knots.values()) == [[0, 20], [phase.w for phase in HAND], [phase.w for phase in LEARNED]]
    with pytest.raises(ZugwerkError, match="weights"):
        make_player("amazons", "alphabeta:weights=none")
