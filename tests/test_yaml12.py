"""YAML 1.2, as DVC reads and writes it."""

import math

import pytest
from dvc.utils.serialize import parse_yaml
from ruamel.yaml import YAML

from pipeline_src import yaml12
from pipeline_src.arena.match import read_tournament
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import load_value

SCALARS = """
1e-05 1e-4 1E-5 1e5 1e+5 1.e5 .5 +.5 5. 1.5e-3 -1.5E+3 010 08 007 -010 0o17 0x1F 0b11 1_000 +1 -0 00 1_0.5 1.1.1 1e
.inf -.INF +.Inf ~ null Null NULL nULL true True TRUE tRUE false no No on off y n Yes 12:30 12:30:45 190:20:30 e5 0x 0o8
_1 + -- . 1,000 9999999999999999999999 '010' "no" ''
"""


@pytest.mark.parametrize("text", SCALARS.split())
def test_values_are_those_of_dvc(text):
    ours, theirs = yaml12.parse(f"a: {text}")["a"], parse_yaml(f"a: {text}", "a.yaml")["a"]
    assert (ours, type(ours)) == (theirs, type(theirs))


def test_not_a_number_and_dates():
    assert math.isnan(yaml12.parse("a: .nan")["a"])
    assert yaml12.parse("2026-11-28") == "2026-11-28"
    assert yaml12.parse("") is yaml12.parse("# nothing") is None


def test_keys_are_the_texts_that_stand_there():
    text = "1.1: a\n1.10: b\n2.0: c\nno: d\nnull: e\n~: f\n12:30:45: g\n010: h\n'quoted': i\n"
    assert "".join(yaml12.parse(text)) == "1.11.102.0nonull~12:30:45010quoted"


@pytest.mark.parametrize("text", ["a: 1\n'a': 2\n", "1.0: a\n'1.0': b\n", "a: {b: {c: 1, c: 2}}", "- {no: 1, 'no': 1}"])
def test_refuses_a_key_that_occurs_twice(text):
    with pytest.raises(ZugwerkError, match=r"f\.yaml: not valid YAML: key '.*' occurs twice"):
        yaml12.parse(text, "f.yaml")


def test_merged_mappings_keep_their_own_keys():
    text = "z: {y: &a {k: 1, m: 2}}\nb:\n  <<: *a\n  k: 3\nc: {<<: [*a, {n: 4}]}"
    assert yaml12.parse(text) == parse_yaml(text, "a.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("? [1]\n: 2\n", "a key is no text"),
        ("a: !!python/object:os.system {}", "could not determine a constructor"),
        ("a: 1\n---\nb: 2\n", "single document"),
        ("\ta: 1\n", "cannot start any token"),
        ("a: " + "9" * 5000, "Exceeds the limit"),
        ("%YAML 1.1\n---\na: no\n", "YAML 1.1; this reads YAML 1.2"),
        ("a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> other\n", "line 2 has the marker of a merge conflict"),
    ],
)
def test_names_the_file_and_what_is_wrong(text, words):
    with pytest.raises(ZugwerkError, match=rf"^f\.yaml: .*{words}"):
        yaml12.parse(text, "f.yaml")


@pytest.mark.parametrize("left", ["=======\n", ">>>>>>> other\n", "||||||| 1a2b3c4\n"])
def test_a_conflict_solved_by_half_is_named(left):
    with pytest.raises(ZugwerkError, match=r"^f\.yaml: line 3 has the marker of a merge conflict"):
        yaml12.parse(f"a: 1\nb: 1\n{left}c: 2\n", "f.yaml")


def test_underlined_texts_are_no_conflict():
    assert yaml12.parse("a: |\n  title\n=======\n".replace("=======", "  =======")) == {"a": "title\n=======\n"}


def test_written_texts_stay_texts_for_every_reader():
    tree = {
        "a": [*(text.strip("'\"") for text in SCALARS.split()), "2026-11-28", "=", "<<", 1e-5, 1e16, None, True, 10]
    }
    text = yaml12.dump(tree)
    assert yaml12.parse(text) == parse_yaml(text, "a.yaml") == tree


def test_a_small_rate_set_by_dvc_exp_run_is_read(tmp_path):
    """``dvc exp run -S train.rate=0.00001`` writes the file with ruamel's round trip."""
    path = tmp_path / "params.yaml"
    path.write_text("train: {rate: 0.1} # a comment\n")
    tree = YAML().load(path.read_text())
    tree["train"]["rate"] = 0.00001
    with path.open("w") as file:
        YAML().dump(tree, file)
    assert "1e-05" in path.read_text()
    assert load_value(float, "train.rate", path) == 1e-5


def test_a_tournament_keeps_unquoted_names(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text("﻿game: amazons\nplayers: {1.1: random, 1.10: one_ply, 2.0: alphabeta, no: 'one_ply:noise=1'}\n")
    assert [*read_tournament(path).players] == ["1.1", "1.10", "2.0", "no"]
