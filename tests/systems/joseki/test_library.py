"""The library against a dictionary, its merging and its file, and the stages joseki_build and joseki_evaluate."""

import csv
import json
import random
import tracemalloc
import xml.etree.ElementTree as ET
import zlib
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go import STANDARD_KOMI, format_variant
from pipeline_src.records.record import write_records
from pipeline_src.report.figures import REGISTRY
from pipeline_src.systems.joseki import build, evaluate
from pipeline_src.systems.joseki.build import Builder, merge, tally
from pipeline_src.systems.joseki.library import empty_tables, load, prune, save
from pipeline_src.systems.joseki.params import MadeGames
from pipeline_src.systems.joseki.patterns import (
    LONGEST,
    PASS,
    canonical_key,
    canonical_keys,
    canonical_move,
    fingerprint,
    key_text,
    pattern_codes,
    walk,
)
from pipeline_src.systems.joseki.recommend import look_up
from pipeline_src.systems.joseki.records import make_games
from tests.systems.joseki.games import SYMMETRIES, at, random_record, record, symmetric_record

GAMES = [random_record(seed) for seed in range(60)]


def built(games, fewest_games=1, moves=LONGEST):
    builder = Builder(longest=moves)
    builder.add(games)
    return builder.library(fewest_games)


@pytest.fixture(scope="module")
def library():
    return built(GAMES)


def same(a, b):
    numbers = [(one.fewest_games, one.moves) for one in (a, b)]
    return numbers[0] == numbers[1] and all(np.array_equal(a.arrays()[name], b.arrays()[name]) for name in a.arrays())


def by_dictionary(games):
    """What a library holds, counted in the obvious way: {(pattern, move, next pattern): [played, games, won, lost]}."""
    seen, found, where = Counter(), defaultdict(lambda: [0, set(), 0, 0]), defaultdict(list)
    for game in games:
        steps = walk([game]).steps
        for i in range(len(steps.ply)):
            (before, forms), (after, _) = canonical_key(steps.before[i]), canonical_key(steps.after[i])
            name = key_text(before), canonical_move(steps.point[i], steps.colour[i], forms), key_text(after)
            seen[name[2]] += steps.point[i] != PASS
            row = found[name]
            row[0] += 1
            row[1].add(game.gid)
            winner = {"first": 1, "second": 2}.get(game.winner, 0)
            row[2] += winner == steps.colour[i]
            row[3] += winner == 3 - steps.colour[i]
            where[name].append((fingerprint(game), int(steps.ply[i]), game.gid))
    samples = {}
    for name, rows in where.items():
        firsts = {game: (ply, gid) for game, ply, gid in sorted(rows, reverse=True)}
        samples[name] = [(gid, ply) for _, (ply, gid) in sorted(firsts.items())][:3]
    return seen, {name: [row[0], len(row[1]), *row[2:]] for name, row in found.items()}, samples


def test_counts_are_those_of_a_plain_dictionary(library):
    seen, transitions, samples = by_dictionary(GAMES)
    names = [key_text(key) for key in library.keys]
    assert names == sorted({name for row in transitions for name in (row[0], row[2])})
    assert library.seen.tolist() == [seen[name] for name in names]
    found, games = {}, {}
    for t, origin in enumerate(library.origins().tolist()):
        name = names[origin], int(library.move[t]), names[library.to[t]]
        found[name] = [int(a[t]) for a in (library.played, library.games, library.wins, library.losses)]
        pairs = zip(library.samples[t].tolist(), library.plies[t].tolist(), strict=True)
        games[name] = [(int(library.gids[game]), ply) for game, ply in pairs if game >= 0]
    assert found == transitions
    assert games == samples


def test_library_is_independent_of_game_order(library):
    shuffled = GAMES.copy()
    random.Random(1).shuffle(shuffled)
    assert same(built(shuffled), library)


@pytest.mark.parametrize("cut", [1, 20, 59])
def test_adding_or_merging_equals_building_at_once(library, cut):
    first, second = built(GAMES[:cut]), built(GAMES[cut:])
    grown = Builder(first)
    grown.add(GAMES[cut:])
    assert same(grown.library(), library)
    assert same(merge(first, second), library)
    assert same(merge(second, first), library)


def small(monkeypatch, games=7, states=40):
    """Work in pieces that are smaller than these few games."""
    monkeypatch.setattr(build, "GAMES_AT_ONCE", games)
    monkeypatch.setattr(build, "STATES_AT_ONCE", states)
    monkeypatch.setattr(build, "RANGE", states)


def test_library_and_counts_are_independent_of_parts(library, monkeypatch, tmp_path):
    games = [*GAMES, *GAMES[10:40], record([at(4, 4), at(4, 4)], gid=5)]
    whole = tally(games, len(games), 5)
    assert same(whole.library, library)
    assert (whole.metrics["repeats"], whole.metrics["illegal"], whole.metrics["clashes_unresolved"]) == (30, 1, 0)
    assert whole.growth[-1]["clashes"] == whole.metrics["clashes"] > whole.growth[0]["clashes"] > 0
    small(monkeypatch)
    parts = tally(iter(games), len(games), 5, folder=tmp_path)
    assert same(parts.library, library)
    assert parts[1:] == whole[1:]
    assert not list(tmp_path.iterdir())


def test_clashes_are_those_of_encodings_in_their_order():
    steps = walk(GAMES).steps
    windows = steps.after[steps.point != PASS]
    keys = [key.tobytes() for key in canonical_keys(windows)]
    owner, counted = {}, set()
    clashing = [owner.setdefault(int(code), key) != key for code, key in zip(pattern_codes(windows), keys, strict=True)]
    patterns = sum(clash for clash, key in zip(clashing, keys, strict=True) if not (key in counted or counted.add(key)))
    metrics = tally(GAMES, len(GAMES), 3).metrics
    assert (metrics["clashes"], metrics["clashing_patterns"]) == (sum(clashing), patterns)


def test_memory_does_not_grow_with_the_games(monkeypatch, tmp_path):
    small(monkeypatch, 25, 2_000)
    made = MadeGames(games=1, plies=120, tenuki=0.15, transposed=0.1, mistakes=0.2)
    games = make_games(made, 1, 0, 400)

    def peak(count):
        tracemalloc.start()
        states = tally(iter(games[:count]), count, 4, folder=tmp_path).library.states
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return states, found

    peak(25)
    (few, before), (many, after) = peak(100), peak(400)
    assert many > 3 * few
    assert after < 1.2 * before


def test_games_counted_before_are_left_out(library):
    builder = Builder(library)
    added = builder.add([*GAMES[:7], random_record(99), random_record(99)])
    assert (added.games, added.repeats) == (1, 8)
    assert same(builder.library(), built([*GAMES, random_record(99)]))


def test_games_with_an_illegal_move_are_named_and_change_nothing(library):
    builder = Builder()
    added = builder.add([*GAMES[:30], record([at(4, 4), at(4, 4)], gid=5), *GAMES[30:]])
    assert (added.games, added.illegal) == (60, [(5, 1)])
    assert same(builder.library(), library)


def test_a_game_on_a_turned_board_adds_no_pattern():
    game = random_record(5)
    turned = [symmetric_record(game, symmetry, gid) for gid, symmetry in enumerate(SYMMETRIES) if not symmetry[2]]
    one, all_eight = built([game]), built(turned)
    np.testing.assert_array_equal(one.keys, all_eight.keys)
    np.testing.assert_array_equal(8 * one.played, all_eight.played)


def pockets_game(gid):
    """White plays into eight pockets of a corner, and is captured there from outside it, where clocks have stopped."""
    pockets = [((9, c), (10, c)) for c in (1, 3, 5, 7)]
    pockets += [(inside[::-1], outside[::-1]) for inside, outside in pockets]
    walls = {wall for c in (1, 3, 5, 7) for r, k in ((8, c), (9, c - 1), (9, c + 1)) for wall in ((r, k), (k, r))}
    inner = [(r, c) for r in range(0, 8, 2) for c in range(8)]
    right = [(r, c) for r in range(0, 9, 2) for c in range(11, 19)]
    points = [*right[:17], *((c, r) for r, c in right[:17])]
    for i, (inside, outside) in enumerate(pockets):
        points += [inside, inner[gid + i], right[17 + i], outside]
    variant = format_variant(STANDARD_KOMI, walls)
    return record([19 * r + c for r, c in [*points, inner[gid + 8]]], gid, variant=variant)


def test_captures_from_outside_leave_room_for_all_patterns(monkeypatch):
    monkeypatch.setattr(build, "empty_tables", lambda: empty_tables(1, 1))
    game = pockets_game(1)
    builder = Builder(longest=17)
    assert builder.add([game]).illegal == []
    steps = walk([game], 17).steps
    keys = {key.tobytes() for key in canonical_keys(np.concatenate([steps.before, steps.after]))}
    assert len(keys) > len(steps.ply) + 4
    assert len(builder.library().keys) == len(keys)


def test_two_move_orders_meet_in_one_state():
    one = record([at(4, 4), at(3, 6), at(6, 3), at(8, 4)])
    other = record([at(6, 3), at(3, 6), at(4, 4), at(9, 3)], gid=2)
    library = built([one, other])
    window = walk([one]).steps.before[3]
    found = look_up(library, window, 2)
    assert sorted(map(tuple, found.points.tolist())) == [(73, 73), (82, 82)]


def test_pruning_drops_transitions_of_a_single_game(library):
    kept = prune(library, 2)
    assert 0 < kept.transitions < library.transitions
    assert kept.games.min() == 2
    touched = {*kept.origins().tolist(), *kept.to.tolist()}
    assert touched == set(range(kept.states))
    names = {key_text(key): i for i, key in enumerate(library.keys)}
    of = {}
    for t, origin in enumerate(library.origins().tolist()):
        of[origin, int(library.move[t]), int(library.to[t])] = int(library.played[t])
    states = [names[key_text(key)] for key in kept.keys]
    for t, origin in enumerate(kept.origins().tolist()):
        assert of[states[origin], int(kept.move[t]), states[kept.to[t]]] == kept.played[t]
    assert same(prune(kept, 2), kept)
    assert prune(library, 1000).states == 0


def test_a_pruned_library_takes_no_games(library):
    pruned = prune(library, 2)
    with pytest.raises(ZugwerkError, match="cannot be added to or merged"):
        Builder(pruned)
    with pytest.raises(ZugwerkError, match="cannot be added to or merged"):
        merge(built([random_record(99)]), pruned)
    with pytest.raises(ZugwerkError, match="already without"):
        prune(pruned, 1)


def test_libraries_that_share_games_are_not_merged():
    with pytest.raises(ZugwerkError, match="2 games are in both"):
        merge(built(GAMES[:4]), built(GAMES[2:6]))


def test_an_empty_library_knows_nothing():
    nothing = built([])
    assert look_up(nothing, np.zeros((10, 10), np.int8), 1).state == -1
    assert same(merge(nothing, built(GAMES[:3])), built(GAMES[:3]))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.joseki"
    save(built([random_record(seed) for seed in range(10)]), path)
    return path


@pytest.mark.parametrize("fewest_games", [1, 2])
def test_library_is_read_back_and_written_reproducibly(tmp_path, fewest_games):
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


def test_added_games_count_as_many_moves_as_library(tmp_path):
    save(built(GAMES[:5], moves=8), tmp_path / "a")
    builder = Builder(load(tmp_path / "a"))
    builder.add(GAMES[5:10])
    assert same(builder.library(2), built(GAMES[:10], 2, moves=8))
    with pytest.raises(ZugwerkError, match="they count 8 and 20 moves of a corner"):
        merge(load(tmp_path / "a"), built(GAMES[5:10]))


def test_an_empty_library_is_read_back(tmp_path):
    save(built([]), tmp_path / "a")
    assert load(tmp_path / "a").states == 0


def test_saving_leaves_no_half_file_behind(file, monkeypatch):
    before = file.read_bytes()
    monkeypatch.setattr(zlib, "compressobj", lambda *_: (_ for _ in ()).throw(MemoryError))
    with pytest.raises(MemoryError):
        save(built([random_record(50)]), file)
    assert file.read_bytes() == before
    assert isinstance(load(file).keys, np.ndarray)


FORTY = [random_record(seed) for seed in range(40)]
PARAMS = {
    "seed": 7,
    "joseki_build": {"moves": 20, "fewest_games": 2},
    "joseki_evaluate": {"held_out": 0.25, "positions": 100, "shown_ply": 6},
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_records(FORTY, build.GAMES)

    def run(stage, **changes):
        params = {
            key: value | changes.get(key, {}) if isinstance(value, dict) else value for key, value in PARAMS.items()
        }
        (tmp_path / "params.yaml").write_text(yaml12.dump(params))
        stage.main()
        kept = [p for p in sorted(tmp_path.rglob("artifacts/**/*")) if p.is_file() and ".timings." not in p.name]
        return {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in kept}

    return run


def table(name):
    with open(build.REPORTS / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_library_and_counts_match_the_games(project):
    project(build)
    whole, kept = load(build.MODELS / "whole.joseki"), load(build.MODELS / "library.joseki")
    assert same(whole, built(FORTY))
    assert same(kept, built(FORTY, 2))
    metrics = json.loads((build.REPORTS / "build.json").read_text())
    assert metrics["games"] == metrics["sources"]["file"] == 40
    assert metrics["encodings"] == whole.seen.sum()
    assert metrics["patterns"] == (whole.seen > 0).sum()
    assert metrics["transitions"] == whole.transitions
    assert metrics["kept"] == {"patterns": kept.states, "transitions": kept.transitions}
    assert metrics["clashes_unresolved"] == metrics["clashes_ours"] == 0
    assert metrics["names_zobrist"] > metrics["names_gu"] > metrics["patterns"]
    growth = table("growth")
    assert len(growth) == 20
    assert {key: int(growth[-1][key]) for key in ("games", "encodings", "transitions")} == {
        key: metrics[key] for key in ("games", "encodings", "transitions")
    }
    games = [int(row["games"]) for row in growth]
    assert games == sorted(games)


def test_recommender_is_tested_on_unseen_games(project):
    project(evaluate)
    metrics = json.loads((evaluate.REPORTS / "evaluate.json").read_text())
    assert metrics["games"] + metrics["held_out"] == 40
    assert 0 < metrics["recommend_top1"]["value"] <= metrics["recommend_top3"]["value"] <= metrics["hit_rate"]["value"]
    assert metrics["hit_rate"]["value"] < metrics["whole"]["hit_rate"]["value"] < 1
    assert metrics["either_top3"]["value"] >= metrics["recommend_top3"]["value"]
    assert metrics["lookups"]["found"]["value"] == 1.0
    assert metrics["lookups"]["found_by_paper"]["value"] < 1.0
    rows = table("accuracy")
    assert [int(row["number"]) for row in rows] == list(range(1, 21))
    assert sum(int(row["moves"]) for row in rows) == metrics["moves"] == metrics["hit_rate"]["n"]
    assert float(rows[0]["hit_rate"]) == 1.0
    ET.fromstring((evaluate.REPORTS / "recommend.svg").read_text())
    assert table("recommend")[0]["rank"] == "1"
    times = json.loads((evaluate.REPORTS / "evaluate.timings.json").read_text())
    assert {"encode_us", "canonical_us", "lookup_us", "lookup_paper_us"} <= set(times)


def test_copies_of_games_are_tested_once(project):
    project(evaluate)
    files = ("evaluate.json", "accuracy.csv")
    before = [(evaluate.REPORTS / name).read_bytes() for name in files]
    copies = [replace(game, gid=1000 + game.gid, actions=(*game.actions[:-1], 361, 361)) for game in FORTY]
    write_records([*FORTY, *copies, *(replace(game, gid=2000 + game.gid) for game in FORTY)], build.GAMES)
    project(evaluate)
    assert [(evaluate.REPORTS / name).read_bytes() for name in files] == before


def test_every_figure_of_the_registry_is_among_the_metrics(project):
    for stage in (build, evaluate):
        files = set(project(stage))
    for figure in REGISTRY["joseki"].values():
        value = json.loads(Path(figure.path or figure.times).read_text())
        for part in figure.key.split("."):
            value = value[part]
        assert value is not None
        assert figure.path in files or figure.times.endswith(".timings.json")


@pytest.mark.parametrize("stage", [build, evaluate])
def test_same_games_give_same_bytes_for_any_portions(project, monkeypatch, stage):
    first = project(stage)
    monkeypatch.setattr(build, "GAMES_AT_ONCE", 7)
    assert project(stage) == first


def test_shorter_sequences_make_smaller_libraries(project):
    project(build)
    longer = load(build.MODELS / "whole.joseki").transitions
    project(build, joseki_build={"moves": 5})
    assert load(build.MODELS / "whole.joseki").transitions < longer
    assert Builder(load(build.MODELS / "whole.joseki")).library().states > 0


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"joseki_build": {"corner": 9}}, "joseki_build.corner: unknown key"),
        ({"joseki_evaluate": {"held_out": 0.0001}}, "40 games are too few to hold out 0.0001"),
    ],
)
def test_bad_params_are_named(project, changes, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        project(evaluate, **changes)


def test_an_archive_without_games_is_named(project):
    write_records([], build.GAMES)
    with pytest.raises(ZugwerkError, match=r"games.parquet: no games"):
        project(build)
