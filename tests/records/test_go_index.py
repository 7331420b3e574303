"""The index of Go games: growth, repeats, refusals."""

import os
import random
import tarfile
from pathlib import Path

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go import initial_state, legal, parse_move, parse_variant, replay
from pipeline_src.games.kernels import play
from pipeline_src.records import go_index
from pipeline_src.records.go_find import find, forms, parse_pattern, part_of
from pipeline_src.records.go_index import ANY, default_path, update, write_events
from pipeline_src.records.record import GameRecord, open_rejects, write_records

GAMES = {
    "a.sgf": "(;SZ[9]PB[ann]PW[bob]RE[B+R];B[cc];W[gg])",
    "sub/b.sgf": "(;SZ[9]PB[cid];B[cc];W[gc])(;SZ[19]RE[W+2.5];B[dd])",
    "c.sgf": "(;SZ[9];B[ee];W[])",
}


def write(folder, names=tuple(GAMES)):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(GAMES[name])
        os.utime(path, ns=(10**18, 10**18))  # equal folders have equal times


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "games")
    return tmp_path / "games"


def reads(monkeypatch):
    """The names of the files that are read, from now on."""
    names, read = [], go_index.parse_sgf

    def parse(data, gid, *, name, size):
        names.append(Path(name).name)
        return read(data, gid, name=name, size=size)

    monkeypatch.setattr(go_index, "parse_sgf", parse)
    return names


def rows(index):
    return [(one.path.name, one.number, one.first_name, one.winner, one.plies)
            for one in map(index.where, range(len(index.games)))]  # fmt: skip


def test_games_of_folder_and_subfolders_in_name_order(folder, tmp_path):
    index = update(tmp_path / "index", folder)
    assert rows(index) == [
        ("a.sgf", 1, "ann", 1, 2),
        ("c.sgf", 1, "", 0, 2),
        ("b.sgf", 1, "cid", 0, 2),
        ("b.sgf", 2, "", 2, 1),
    ]
    assert index.of_size(9).tolist() == [0, 1, 2]
    assert index.of_size(19).tolist() == [3]
    assert index.events[index.starts[0] : index.starts[1]].tolist() == [163, 20, 81 + 60]
    assert index.events[index.starts[1] : index.starts[2]].tolist() == [163, 40, 162]


def test_growing_reads_new_files_alone_and_gives_the_same_bytes(tmp_path, monkeypatch):
    path, whole, root = tmp_path / "index", tmp_path / "whole", tmp_path / "games"
    write(root, ["c.sgf"])
    told = []
    update(path, root)
    names = reads(monkeypatch)
    write(root)
    update(path, root, told.append)
    assert names == ["a.sgf", "b.sgf"]
    assert [(one.done, one.files, one.games, one.gone) for one in told] == [(1, 2, 1, 0), (2, 2, 3, 0)]
    update(path, root)
    assert names == ["a.sgf", "b.sgf"], "nothing is new"
    update(whole, root)
    assert path.read_bytes() == whole.read_bytes()


def test_changed_files_are_reread_and_deleted_ones_leave(folder, tmp_path, monkeypatch):
    path, told = tmp_path / "index", []
    update(path, folder)
    (folder / "c.sgf").unlink()
    (folder / "a.sgf").write_text("(;SZ[9]PB[eve];B[cc])")
    names = reads(monkeypatch)
    index = update(path, folder, told.append)
    assert names == ["a.sgf"]
    assert told[-1].gone == 1
    assert [one[:3] for one in rows(index)] == [("a.sgf", 1, "eve"), ("b.sgf", 1, "cid"), ("b.sgf", 2, "")]
    (folder / "a.sgf").unlink()
    assert len(update(path, folder, told.append).games) == 2
    assert told[-1] == (0, 0, 0, 1), "files that are gone are told without new ones, too"


def test_interrupted_indexing_keeps_written_parts(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(go_index, "SAVED_EVERY", 1)

    def interrupted(growth):
        if growth.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update(tmp_path / "index", folder, interrupted)
    names = reads(monkeypatch)
    assert len(update(tmp_path / "index", folder).games) == 4
    assert names == ["b.sgf"]


def test_a_game_that_is_there_twice_is_searched_once(folder, tmp_path):
    (folder / "again.sgf").write_text(GAMES["a.sgf"].replace("ann", "Ann"))
    index = update(tmp_path / "index", folder)
    assert index.games["repeat"].to_pylist() == [False, True, False, False, False]
    assert index.of_size(9).tolist() == [0, 2, 3]
    (folder / "a.sgf").unlink()
    assert not any(update(tmp_path / "index", folder).games["repeat"].to_pylist())


def test_a_tar_and_an_archive_name_the_game(tmp_path):
    write(tmp_path / "games")
    tar = tmp_path / "games.tar.gz"
    with tarfile.open(tar, "w:gz") as file:
        file.add(tmp_path / "games/sub/b.sgf", "deep/b.sgf")
    one = update(tmp_path / "of_tar", tar).where(1)
    assert (one.path, one.member, one.number) == (tar, "deep/b.sgf", 2)
    archive = tmp_path / "games.parquet"
    other = GameRecord("gomoku", 7, "file", "freestyle", 15, 15, (112,), None)
    write_records([other, GameRecord("go", 9, "file", "standard", 9, 9, (20,), "draw", first_name="dan")], archive)
    index = update(tmp_path / "of_archive", archive)
    assert rows(index) == [("games.parquet", 9, "dan", 3, 1)]
    assert index.problems() == []


def test_bad_file_is_reported_and_not_read_again(folder, tmp_path, monkeypatch):
    (folder / "bad.sgf").write_text("(;SZ[9];B[cc];W[cc])")
    (folder / "gomoku.sgf").write_text("(;GM[4]SZ[15];B[hh])")
    (folder / "numbers.parquet").write_bytes(b"PAR1 torn")
    with open_rejects(folder / "rejects.parquet"):
        pass
    index = update(tmp_path / "index", folder)
    bad, torn = index.problems()
    assert "bad.sgf: White's move C7 is occupied" in bad
    assert "numbers.parquet: damaged, or not a Parquet file" in torn
    names = reads(monkeypatch)
    assert update(tmp_path / "index", folder).problems() == [bad, torn]
    assert names == []


def test_folder_without_games_is_reported(tmp_path):
    with pytest.raises(ZugwerkError, match=r"no \.sgf file and no \.parquet archive there"):
        update(tmp_path / "index", tmp_path)
    with pytest.raises(ZugwerkError, match="nowhere: no such folder, tar or archive"):
        update(tmp_path / "index", tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_index_of_a_different_folder_is_kept(folder, tmp_path):
    path = tmp_path / "index"
    update(path, folder)
    data = path.read_bytes()
    write(tmp_path / "others", ["c.sgf"])
    with pytest.raises(ZugwerkError, match=r"an index of .*games, not of .*others; name another file"):
        update(path, tmp_path / "others")
    assert path.read_bytes() == data


def test_every_folder_has_its_own_index(tmp_path, monkeypatch):
    monkeypatch.setenv("ZUGWERK_CACHE", str(tmp_path))
    one, other = default_path(tmp_path / "a"), default_path(tmp_path / "b")
    assert one != other
    assert one.parent == other.parent == tmp_path / "go"
    assert default_path(tmp_path / "b/../a") == one


# Searches of positions, against a slow reference that looks at every board of every game in every symmetry.

OTHER = {0: 0, 1: 2, 2: 1, ANY: ANY}


def random_game(seed, size=5, plies=60, variant="standard"):
    """Stones anywhere, so that on a small board many are captured and retaken, and some passes."""
    rng = random.Random(seed)
    state, actions = initial_state(size, variant), []
    while len(actions) < plies:
        action = rng.randrange(size * size + 1)
        if action == size * size and (rng.random() < 0.7 or (actions and actions[-1] == size * size)):
            continue
        if rng.random() < 0.05:
            action = size * size
        if legal(state, action):
            play(state, action)
            actions.append(action)
        elif state.turn[3] >= 2:
            break
    winner = rng.choice(["first", "second", "draw", None])
    return GameRecord("go", seed + 1, "file", variant, size, size, tuple(actions), winner)


def indexed(games, folder):
    write_records(games, folder / "games.parquet")
    return update(folder / "index", folder / "games.parquet")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    games = [random_game(seed, variant="handicap-1:cc" if seed % 5 == 0 else "standard") for seed in range(40)]
    return games, indexed(games, tmp_path_factory.mktemp("small"))


def images(pattern, fixed):
    """(image as a tuple, map of its points to the pattern's, recoloured) for every form of a pattern."""
    size = len(pattern)
    inside = [(r, c) for r in range(size) for c in range(size) if pattern[r, c] != ANY]
    maps = [lambda r, c, k=k: [(r, c), (c, size - 1 - r), (size - 1 - r, size - 1 - c), (size - 1 - c, r)][k]
            for k in range(4)]  # fmt: skip
    for turn in maps:
        for mirrored in (False, True):
            at = {p: turn(*(p[::-1] if mirrored else p)) for p in inside}
            rows, columns = ({q[k] for q in at.values()} for k in (0, 1))
            moves = []
            for one in (rows, columns):
                border = min(one) == 0 or max(one) == size - 1
                span = max(one) - min(one)
                moves.append([0] if fixed or border else [k - min(one) for k in range(1, size - 1 - span)])
            for down in moves[0]:
                for right in moves[1]:
                    for recoloured in (False, True):
                        image, back = np.full((size, size), ANY), {}
                        for (r, c), (row, column) in at.items():
                            image[row + down, column + right] = (
                                OTHER[int(pattern[r, c])] if recoloured else pattern[r, c]
                            )
                            back[row + down, column + right] = (r, c)
                        yield image, back, recoloured


def slow_occurrences(games, pattern, fixed=False):
    """(game, ply, following: where and of which colour in the game's own terms, elsewhere), each image once."""
    size, found = len(pattern), []
    different = {image.tobytes(): image for image, _, _ in images(pattern, fixed)}
    for number, game in enumerate(games):
        boards = replay(initial_state(size, game.variant), game.actions)
        first = 1 if parse_variant(game.variant)[1] else 0  # White begins against handicap stones
        for image in different.values():
            stands = [bool(((image == ANY) | (image == board)).all()) for board in boards]
            for ply, here in enumerate(stands):
                if not here or (ply and stands[ply - 1]):
                    continue
                then, elsewhere = None, 0
                for later in range(ply, len(game.actions)):
                    action = game.actions[later]
                    if action < size * size and image.flat[action] != ANY:
                        then = (action, (later + first) % 2)
                        break
                    if not stands[later + 1]:
                        break
                    elsewhere += 1
                found.append((number, ply, then, elsewhere))
    return sorted(found, key=str)


PATTERNS = {
    "a corner": "x....\n.o...\n?????\n?????\n?????",
    "a side": "?????\n?????\n?????\n?x.o?\n?..x?",
    "the middle": "?????\n?xo??\n?.x??\n?????\n?????",
    "a row": "?????\n?????\nx?o?x\n?????\n?????",
    "one empty corner": "..???\n..???\n?????\n?????\n?????",
    "a group": "?????\n??xx?\n??xo?\n?????\n?????",
}


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("name", PATTERNS)
def test_part_of_a_board_is_found_as_by_slow_reference(small, name, fixed):
    games, index = small
    pattern = parse_pattern(PATTERNS[name])
    found = find(index, pattern, fixed=fixed)
    wanted = slow_occurrences(games, pattern, fixed)
    seen = found.occurrences
    ours = []
    for game, ply, code, elsewhere in zip(seen.game, seen.ply, seen.following, seen.elsewhere, strict=True):
        ours.append((int(game), int(ply), None if code < 0 else (int(code) % 25, int(code) // 25), int(elsewhere)))
    assert sorted(ours, key=str) == wanted
    assert wanted, "the pattern occurs"
    assert sum(one.played for one in found.continuations) + found.ended == len(wanted)


def test_whole_boards_are_found_as_by_the_slow_reference(small):
    games, index = small
    for number, ply in [(3, 0), (3, 2), (5, 1), (5, 0), (7, 4), (11, 8), (20, 12), (21, 40)]:
        ply = min(ply, len(games[number].actions))
        board = replay(initial_state(5, games[number].variant), games[number].actions)[ply]
        seen = find(index, board).occurrences
        ours = sorted((int(g), int(p)) for g, p in zip(seen.game, seen.ply, strict=True))
        assert ours == sorted(one[:2] for one in slow_occurrences(games, board))
        assert number in seen.game


def test_all_symmetries_of_a_position_have_the_same_answer(small):
    games, index = small
    board = replay(initial_state(5), games[3].actions)[3]
    first = find(index, board)
    assert first.games > 0
    for turned, _, recoloured in images(board, True):
        again = find(index, turned.astype(np.int8))
        wins = (again.white_won, again.black_won) if recoloured else (again.black_won, again.white_won)
        assert wins == (first.black_won, first.white_won)
        assert sorted(one.played for one in again.continuations) == sorted(one.played for one in first.continuations)


def game_of(gid, winner, *moves, size=9):
    actions = tuple(parse_move(move, size, size) for move in moves)
    return GameRecord("go", gid, "file", "standard", size, size, actions, winner)


def test_continuations_count_by_symmetry_and_results_by_the_positions_colours(tmp_path):
    index = indexed(
        [
            game_of(1, "first", "C3", "F6", "G3"),
            game_of(2, "second", "G3", "D6", "C3"),  # turned: the same game, the other side won
            game_of(3, "second", "pass", "C3", "F6", "G3"),  # recoloured: White plays the first stone
            game_of(4, None, "C3", "F6", "pass", "G3"),  # here White continues, after a pass
        ],
        tmp_path,
    )
    board = np.zeros((9, 9), np.int8)
    board[6, 2], board[3, 5] = 1, 2  # C3 and F6, as in the first game
    found = find(index, board)
    assert (found.games, found.searched, found.black_won, found.white_won) == (4, 4, 2, 1)
    black, white = found.continuations
    corners = tuple(parse_move(text, 9, 9) for text in ("C7", "G3"))
    assert black == (0, corners, 3, 2, 1, 0)
    assert white == (1, corners, 1, 0, 0, 1)
    assert found.ended == 0


def test_a_position_that_comes_back_after_captures_is_found_twice(tmp_path):
    moves = ("B2", "C2", "A1", "D1", "C1", "B1", "E5", "pass", "C1")  # B1 takes C1, and C1 takes B1
    index = indexed([game_of(1, "first", *moves, size=5)], tmp_path)
    pattern = parse_pattern("?????\n?????\n?????\n?xo??\nx.xo?")
    seen = find(index, pattern, fixed=True).occurrences
    assert seen.ply.tolist() == [5, 9]
    assert seen.following.tolist() == [25 + parse_move("B1", 5, 5), -1]
    gone = find(index, parse_pattern("?????\n?????\n?????\n?????\n??x??"), fixed=True)
    assert gone.occurrences.ply.tolist() == [5, 9], "a stone that a move beside the pattern captures ends it"
    assert gone.ended == 2


def test_an_illegal_action_has_no_stream():
    with pytest.raises(ValueError, match=r"^1$"):
        write_events(5, "standard", [3, 3])


def test_the_pattern_moves_along_the_border_that_it_reaches():
    side = parse_pattern("?????????\n" * 7 + "???x.????\n.........")
    assert len(forms(part_of(side, "D1-E2")).wanted) == 8 * 2 * 6  # six places on each side, and reflected
    assert len(forms(part_of(side, "D1-E2"), fixed=True).wanted) == 8 * 2
    assert len(forms(np.zeros((9, 9), np.int8)).wanted) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("...\n.z.\n...", "pattern, line 2: 'z' means nothing"),
        ("...\n..\n...", "pattern, line 2: 2 points, the first row has 3"),
        ("...\n...", "2 rows of 3; expected all rows of a square board"),
        ("", "no row"),
        ("???\n???\n???", "nothing to find"),
    ],
)
def test_a_text_that_is_no_pattern_says_where(text, message):
    with pytest.raises(ZugwerkError, match=message):
        forms(parse_pattern(text))


@pytest.mark.parametrize("area", ["A1", "A1-K3", "A1-pass", "A1-B2-C3", "I1-B2"])
def test_bad_areas_are_refused(area):
    with pytest.raises(ZugwerkError):
        part_of(np.zeros((9, 9), np.int8), area)
