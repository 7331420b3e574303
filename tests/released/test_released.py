"""Names that users of the last version wrote exist, or a note says so; its files are read, or refused with a reason.

A folder here is a released version: its public surface (`surface`), and files that its code wrote. At
a release, add one: ``python -m tests.released.surface > tests/released/VERSION/surface.txt``.
"""

import re
from itertools import zip_longest

import pytest
import torch

from pipeline_src import __version__
from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import read_records
from pipeline_src.systems.amazons_net.nets import load_nets
from pipeline_src.systems.gomoku_zero.models import load_model
from pipeline_src.systems.joseki.library import load
from pipeline_src.systems.search_depth.net import load_depth_net
from tests.layout.imports import ROOT
from tests.released.api import FILE, last
from tests.released.api import broken as broken_imports
from tests.released.surface import surface

HERE = ROOT / "tests/released"
NOTES = (ROOT / "CHANGELOG.md", ROOT / "docs/upgrade.md")


def number(version):
    return tuple(map(int, version.split(".")))


VERSIONS = sorted((path.name for path in HERE.iterdir() if path.name[0].isdigit()), key=number)
OLD = HERE / "0.1.0"


def named(lines):
    """{kind and name: the rest} of the lines of a surface; commands and players are names as a whole."""
    found = {}
    for line in lines:
        whole = re.fullmatch(r"((?:command|player|route) .*)()|(\w+ [^( ]+)[ ]?(.*)", line)
        found[whole[1] or whole[3]] = whole[4] or ""
    return found


def fits(now, then):
    """Whether all that ``then`` took is taken ``now``; more choices are, and more arguments that may be left out."""
    if then.startswith("("):
        pairs = zip_longest(now.strip("()").split(", "), then.strip("()").split(", "))
        return all(mine == old or mine == f"[{old}]" or (old in (None, "") and mine[:1] in "[*") for mine, old in pairs)
    return set(then.split("|")) <= set(now.split("|"))


def broken(then, now):
    """Names that are gone, or that do not take what they took."""
    then, now = named(then), named(now)
    return [name for name, what in then.items() if name not in now or not fits(now[name], what)]


def notes(version):
    """The section of a version in the changelog, and in the page on upgrading."""
    return "".join(
        part
        for path in NOTES
        for part in re.split(r"^(?=## )", path.read_text(), flags=re.MULTILINE)
        if part.startswith(f"## {version}")
    )


def is_told(name, text):
    """Whether a text names it in code, or what it is a part of: a section with a dot, a message, a command."""
    kind, _, name = name.partition(" ")
    words = name.split(" " if kind in ("command", "player", "route") else ".")
    join = " ".join if kind in ("command", "player", "route") else ".".join
    if kind == "name":
        wholes = [words[-1], ".".join(words[-2:])]
    else:
        least = 1 if kind in ("message", "column") else 2
        wholes = [join(words[:end]) for end in range(len(words), min(least, len(words)) - 1, -1)]
    return any(re.search(rf"`{re.escape(whole)}[`(.:]", text) for whole in wholes)


def test_breaking_changes_are_noted():
    last = VERSIONS[-2] if VERSIONS[-1] == __version__ else VERSIONS[-1]
    gone = broken((HERE / last / "surface.txt").read_text().splitlines(), surface())
    untold = [name for name in gone if not is_told(name, notes(__version__))]
    assert not untold, f"gone or changed since {last}; name it under ## {__version__} in CHANGELOG.md: {untold}"
    if gone:
        assert number(__version__)[:2] > number(last)[:2], f"{len(gone)} names broken: that is no patch release"


def test_the_surface_of_a_release_does_not_change():
    if VERSIONS[-1] == __version__:
        assert (HERE / __version__ / "surface.txt").read_text().splitlines() == surface()
    assert number(VERSIONS[-1]) <= number(__version__)


@pytest.mark.parametrize(
    ("then", "now", "gone"),
    [
        ("param a.b integer", "param a.b integer", False),
        ("param a.b integer", "param a.c integer", True),
        ("param a.b integer", "param a.b string", True),
        ("param a.b one|two", "param a.b one|three|two", False),
        ("param a.b one|two", "param a.b one", True),
        ("name p.f(a, [b])", "name p.f(a, [b], [c])", False),
        ("name p.f(a)", "name p.f([a])", False),
        ("name p.f(a)", "name p.f(a, b)", True),
        ("name p.f([a])", "name p.f(a)", True),
        ("name p.f()", "name p.f([a])", False),
        ("name p.f(a)", "name p.f()", True),
        ("command zugwerk play --size", "command zugwerk play --board", True),
        ("player gomoku zero:c", "player gomoku zero", True),
        ("column games.gid int64", "column games.gid int32", True),
        ("message Ply.fen string", "message Ply.move string", True),
        ("route GET /api/a", "route GET /api/a", False),
    ],
)
def test_breaking_change_is_found(then, now, gone):
    assert bool(broken([then], [now])) == gone


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("param a.b.c", "`a.b` is now `d.b`", True),
        ("param a.b.c", "`a` is gone", False),
        ("param seed", "`seed` is gone", True),
        ("message Ply.fen", "`Ply` is gone", True),
        ("name pipeline_src.records.read_sgf", "`read_sgf(path)`", True),
        ("command zugwerk play --size", "`zugwerk play --size` is gone", True),
        ("command zugwerk play --size", "zugwerk play --size is gone", False),
    ],
)
def test_note_in_changelog_is_found(name, text, told):
    assert is_told(name, text) == told


def test_nets_of_0_1_answer_as_they_did():
    model, planes = load_model(OLD / "gomoku.pt"), torch.zeros(1, 3, 6, 6)
    planes[0, 0, 2, 3] = 1
    nets, depth = load_nets(OLD / "amazons.pt"), load_depth_net(OLD / "depth.pt")
    with torch.no_grad():
        logits, value = model.net(planes)
        assert (model.variant, int(logits.argmax())) == ("exact", 13)
        assert (float(value), float(logits.max())) == pytest.approx((-0.801609, 5.074748), abs=1e-5)
        value, logits = nets.move(torch.full((1, 15, 6, 6), 0.25))
        assert (float(value), float(logits.max())) == pytest.approx((0.338867, -0.086624), abs=1e-5)
        assert float(depth.net(torch.full((1, 4, 10, 10), 0.25))) == pytest.approx(0.02252, abs=1e-5)
    assert {parameter.dtype for parameter in nets.parameters()} == {torch.float32}


def test_records_of_0_1_are_read():
    (game,) = read_records(OLD / "games.parquet")
    assert (game.game, game.gid, game.actions, game.winner) == ("gomoku", 7, (40, 31, 41), "first")


def test_library_of_0_1_is_refused_with_advice():
    with pytest.raises(ZugwerkError, match=r"library\.joseki: a library of version '1', .* reads 3; build it"):
        load(OLD / "library.joseki")


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [
        ("def read(", "def reed(", "read: Public object was removed"),
        ("size: int | None = None, variant", "size: int, variant", "game(size)"),
        ("movetime: float | None = None", "time: float | None = None", "Player.think(movetime)"),
        ("def nets(", "def knots():\n    ...\n\n\ndef nets(", None),
    ],
)
def test_a_break_of_the_library_is_named(then, now, said):
    text = FILE.read_text()
    assert not broken_imports(last(), text)
    lines = broken_imports(text, text.replace(then, now, 1))
    assert text.count(then)
    assert said in "".join(lines) if said else not lines
