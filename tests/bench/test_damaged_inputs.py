import random

import pytest
import yaml

from bench.reliability.damaged_inputs import DAMAGES, attempt, inputs, kinds, turned

GOOD = "print('well')"
PICKY = """
import sys
from pathlib import Path
if Path('artifacts/data/x.txt').read_text() != 'abcd':
    sys.exit('error: artifacts/data/x.txt: damaged; make it again')
"""
CARELESS = "from pathlib import Path; 1 / (Path('artifacts/data/x.txt').read_text() == 'abcd')"
VAGUE = "import sys; sys.exit('error: something is damaged')"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    home = tmp_path / "checkout"
    (home / "artifacts/data").mkdir(parents=True)
    (home / "artifacts/data/x.txt").write_text("abcd")
    (home / "params.yaml").write_text("parallel: {workers: 2}\n")
    for name, text in {"good": GOOD, "picky": PICKY, "careless": CARELESS, "vague": VAGUE}.items():
        (tmp_path / f"damaged_{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return home


def lock(path, stages):
    (path / "dvc.lock").write_text(yaml.safe_dump({"stages": stages}))


def stage(name="good", out="artifacts/data"):
    return {"cmd": f"python -m damaged_{name}", "deps": [{"path": "artifacts/data"}], "outs": [{"path": out}]}


@pytest.mark.parametrize(
    ("name", "outcome"), [("good", "ended well"), ("picky", "refused"), ("careless", "defect"), ("vague", "defect")]
)
@pytest.mark.parametrize("damage", ["half", "bit"])
def test_an_attempt_is_classified_by_status_and_message(checkout, name, outcome, damage):
    (path,) = inputs(stage(name), checkout)
    row = attempt("stage", stage(name), path, damage, checkout, random.Random(1))
    assert (row["outcome"], row["file"]) == (outcome, "artifacts/data/x.txt")
    assert (checkout / path).read_text() == "abcd"
    assert [
        folder.name for folder in checkout.parent.iterdir() if folder.is_dir() and folder.name.startswith("tmp")
    ] == []


def test_one_stage_per_group_is_chosen_from_the_present_profile(checkout):
    lock(checkout, {"a@9": stage(out="artifacts/none"), "a@1": stage(), "a@2": stage(), "b": stage()})
    assert [name for name, _ in kinds(checkout)] == ["a@1", "b"]


def test_damage_functions():
    rng = random.Random(2)
    assert [DAMAGES[name](b"abcd", rng) for name in ("missing", "empty", "half")] == [None, b"", b"ab"]
    changed = turned(b"abcd", rng)
    assert sum((a ^ b).bit_count() for a, b in zip(changed, b"abcd", strict=True)) == 1
    assert turned(b"", rng) == b""
