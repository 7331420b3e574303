import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json
from pipeline_src.learning.symmetry import transform_boards
from pipeline_src.systems.search_depth.positions import FIELDS, open_positions, split_by_game, write_positions
from tests.systems.search_depth.synthetic import HIGHEST, LOWEST, synthetic, write_synthetic

CLASSES = {"lowest": LOWEST, "highest": HIGHEST}
SHARES = (75.0, 10.0, 15.0)


def test_comes_back_as_it_was_written(tmp_path):
    arrays = write_synthetic(tmp_path / "depth")
    positions = open_positions(tmp_path / "depth", check_hashes=True)
    assert len(positions) == len(arrays["n"])
    assert positions.classes == (LOWEST, HIGHEST)
    for name, (dtype, _) in FIELDS.items():
        found = getattr(positions, name)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, arrays[name])
    np.testing.assert_array_equal(positions.label("needed"), arrays["needed"])


def test_the_same_positions_are_the_same_bytes(tmp_path):
    for name in "ab":
        write_synthetic(tmp_path / name)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_wider_types_are_taken_where_the_numbers_fit(tmp_path):
    arrays = {name: a if a.dtype.kind == "f" else a.astype(np.int64) for name, a in synthetic(games=2).items()}
    write_positions(tmp_path / "depth", arrays, CLASSES)
    assert open_positions(tmp_path / "depth").n.dtype == np.uint8
    arrays["n"][3] = 256
    with pytest.raises(ZugwerkError, match=r"depth_label: .*n\.npy: int64 .* is no .*uint8"):
        write_positions(tmp_path / "depth", arrays, CLASSES)


@pytest.mark.parametrize("name", ["board", "game", "nodes_by_depth"])
def test_what_does_not_fit_together_is_refused(tmp_path, name):
    arrays = synthetic(games=2)
    with pytest.raises(ZugwerkError, match=f"no array {name}"):
        write_positions(tmp_path, {k: v for k, v in arrays.items() if k != name}, CLASSES)
    with pytest.raises(ZugwerkError, match=f"depth_label: .*{name}.npy"):
        write_positions(tmp_path, {**arrays, name: arrays[name][:-1]}, CLASSES)


@pytest.mark.parametrize(("name", "value", "said"), [("to_play", 3, "sides are 0 and 1"), ("board", 66, "codes go")])
def test_numbers_that_no_position_has_name_file_and_stage(tmp_path, name, value, said):
    arrays = synthetic(games=20)
    arrays[name].flat[5] = value
    write_positions(tmp_path, arrays, CLASSES)
    with pytest.raises(ZugwerkError, match=rf"{name}\.npy: .*{said}.*depth_label"):
        split_by_game(open_positions(tmp_path), (75, 10, 15), seed=1)


def test_labels_outside_the_classes_name_file_and_stage(tmp_path):
    arrays = synthetic(games=2)
    arrays["needed"][5] = 8
    with pytest.raises(ZugwerkError, match=r"needed\.npy: row 5 has label 8, outside the classes 3 to 7.*depth_label"):
        write_positions(tmp_path / "depth", arrays, CLASSES)
    arrays["needed"][5] = 3
    write_positions(tmp_path / "depth", arrays, CLASSES)
    manifest = read_json(tmp_path / "depth/manifest.json")
    write_json(tmp_path / "depth/manifest.json", {**manifest, "highest": 5})
    with pytest.raises(ZugwerkError, match=r"reached\.npy: row \d+ has label [67], outside the classes 3 to 5"):
        open_positions(tmp_path / "depth")


def test_damage_is_found(tmp_path):
    with pytest.raises(ZugwerkError, match="no such data set; `dvc repro depth_label`"):
        open_positions(tmp_path / "none")
    folder = tmp_path / "depth"
    write_synthetic(folder, games=2)
    whole = (folder / "n.npy").read_bytes()
    for content in (whole[:-5], b"", b"no array"):
        (folder / "n.npy").write_bytes(content)
        with pytest.raises(ZugwerkError, match=r"n\.npy: .*dvc repro -f depth_label"):
            open_positions(folder)
    (folder / "n.npy").write_bytes(whole[:-1] + b"\x00" if whole[-1] else whole[:-1] + b"\x01")
    open_positions(folder)
    with pytest.raises(ZugwerkError, match=r"n\.npy: its sha256"):
        open_positions(folder, check_hashes=True)
    (folder / "ply.npy").unlink()
    with pytest.raises(ZugwerkError, match=r"ply\.npy: no such file"):
        open_positions(folder)
    write_json(folder / "manifest.json", {"format": "another"})
    with pytest.raises(ZugwerkError, match=r"manifest\.json: it is not a manifest"):
        open_positions(folder)


def test_games_go_whole_into_one_split(tmp_path):
    write_synthetic(tmp_path / "depth")
    positions = open_positions(tmp_path / "depth")
    splits = split_by_game(positions, SHARES, seed=1)
    games = [set(positions.game[rows].tolist()) for rows in splits]
    assert [len(g) for g in games] == [30, 4, 6]
    assert not games[0] & games[1]
    assert not games[2] & (games[0] | games[1])
    assert sum(map(len, splits)) == len(positions)
    again = split_by_game(positions, SHARES, seed=1)
    assert all(map(np.array_equal, splits, again))


def test_a_position_of_two_games_stays_in_test(tmp_path):
    """Turned, too: a net that sees the board's symmetries would know it."""
    arrays = synthetic()
    write_positions(tmp_path / "a", arrays, CLASSES)
    splits = split_by_game(open_positions(tmp_path / "a"), SHARES, seed=1)
    train, validation, test = splits.train[0], splits.validation[0], splits.test[0]
    for row, symmetry in ((train, 1), (validation, 6)):
        arrays["board"][row] = transform_boards(arrays["board"][test][None], np.array([symmetry]))[0]
        arrays["to_play"][row] = arrays["to_play"][test]
    write_positions(tmp_path / "b", arrays, CLASSES)
    found = split_by_game(open_positions(tmp_path / "b"), SHARES, seed=1)
    assert set(splits.train) - set(found.train) == {train}
    assert set(splits.validation) - set(found.validation) == {validation}
    np.testing.assert_array_equal(found.test, splits.test)


def test_too_few_games_name_the_data_set(tmp_path):
    write_synthetic(tmp_path / "depth", games=2)
    with pytest.raises(ZugwerkError, match=r"depth: 2 games are too few .*raise depth_label\.games"):
        split_by_game(open_positions(tmp_path / "depth"), SHARES, seed=1)
