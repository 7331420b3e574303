import hashlib
import struct
import zlib

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.joseki.build import Builder
from pipeline_src.systems.joseki.library_file import load, save
from tests.systems.joseki.games import random_record
from tests.systems.joseki.test_library import built, same

HEAD = len(b"zugwerk joseki library 2\n")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.joseki"
    save(built([random_record(seed) for seed in range(10)]), path)
    return path


def sealed(packed):
    return b"zugwerk joseki library 2\n" + hashlib.sha256(packed).digest() + packed


@pytest.mark.parametrize("fewest_games", [1, 2])
def test_a_library_is_read_back_and_the_same_games_give_the_same_bytes(tmp_path, fewest_games):
    games = [random_record(seed) for seed in range(10)]
    library = built(games, fewest_games)
    save(library, tmp_path / "a")
    save(built(games[::-1], fewest_games), tmp_path / "b")
    assert same(load(tmp_path / "a"), library)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_games_are_added_to_a_library_read_back(file):
    builder = Builder(load(file))
    builder.add([random_record(77)])
    assert same(builder.library(), built([*(random_record(seed) for seed in range(10)), random_record(77)]))


def test_an_empty_library_is_read_back(tmp_path):
    save(built([]), tmp_path / "a")
    assert load(tmp_path / "a").states == 0


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda data: b"(;SZ[19])", "not a joseki library"),
        (lambda data: b"", "not a joseki library"),
        (lambda data: data.replace(b"library 2\n", b"library 1\n"), "of version '1', this program reads 2"),
        (lambda data: data[:-1], "its checksum does not fit"),
        (lambda data: data + b"x", "its checksum does not fit"),
        (lambda data: data[:HEAD], "its checksum does not fit"),
        (lambda data: data[: HEAD + 40] + bytes([data[HEAD + 40] ^ 1]) + data[HEAD + 41 :], "checksum does not fit"),
        (lambda data: sealed(b"nothing"), "an inconsistent library"),
        (lambda data: sealed(zlib.compress(struct.pack("<I", 9) + b"{}")), "an inconsistent library"),
        (lambda data: sealed(zlib.compress(zlib.decompress(data[HEAD + 32 :]) + b"x")), "bytes too many"),
        (lambda data: sealed(zlib.compress(zlib.decompress(data[HEAD + 32 :])[:-9])), "an inconsistent library"),
    ],
)
def test_what_is_no_sound_library_is_refused_by_name(file, damage, complaint):
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ZugwerkError, match=complaint) as error:
        load(file)
    assert str(file) in str(error.value)


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [
        ("to", 0, 10**6),
        ("move", 3, 202),
        ("samples", (0, 0), 10),
        ("starts", 1, -1),
        ("keys", (0, 0), 1 << 60),
        ("fingerprints", 0, 2**64 - 1),
    ],
)
def test_arrays_that_would_lead_a_kernel_astray_are_refused(file, name, index, value):
    library = load(file)
    getattr(library, name)[index] = value
    save(library, file)
    with pytest.raises(ZugwerkError, match=f"array '{name}' has entries out of range"):
        load(file)


def test_two_states_of_one_pattern_are_refused(file):
    library = load(file)
    library.keys[1] = library.keys[0]
    save(library, file)
    with pytest.raises(ZugwerkError, match="1 patterns have two states"):
        load(file)


def test_a_missing_file_says_what_makes_it(tmp_path):
    with pytest.raises(ZugwerkError, match=r"no such file; `dvc repro joseki_build`"):
        load(tmp_path / "none")


def test_saving_leaves_no_half_file_behind(file, monkeypatch):
    before = file.read_bytes()
    monkeypatch.setattr(zlib, "compress", lambda *_: (_ for _ in ()).throw(MemoryError))
    with pytest.raises(MemoryError):
        save(built([random_record(50)]), file)
    assert file.read_bytes() == before
    assert isinstance(load(file).keys, np.ndarray)
