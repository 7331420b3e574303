"""The stage on nets with fresh weights and random games, on boards as small as each system has."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku
from pipeline_src.records.record import GameRecord, read_records, write_records
from pipeline_src.report import boards as stage
from pipeline_src.report.examples import POSITIONS, read_examples
from pipeline_src.report.page import examples
from pipeline_src.selfplay.params import wanted
from pipeline_src.systems.amazons_net.nets import save_nets
from pipeline_src.systems.gomoku_zero.models import save_model
from pipeline_src.systems.gomoku_zero.params import GenerationFiles
from pipeline_src.systems.growing_boards.params import BoardFiles
from pipeline_src.systems.joseki.library import save as save_library
from pipeline_src.systems.search_depth.net import (
    PublishedDepthConfig,
    ResidualDepthConfig,
    SavedDepthNet,
    make_depth_net,
    save_depth_net,
)
from tests.players.positions import small_dataset, small_nets, small_residual
from tests.systems.amazons_net.positions import random_records
from tests.systems.gomoku_zero.small import SMALL, fresh
from tests.systems.joseki.games import random_record
from tests.systems.joseki.test_library import built
from tests.systems.search_depth.synthetic import write_synthetic

PERSON = "Nakamura <b>"
PARAMS = {
    "seed": 1,
    "report_positions": {
        "amazons": {"plies": [2, 500], "match": "ours"},
        "gomoku": {"plies": [0, 3], "opponent": "weak", "simulations": 8},
        "growing": {"ply": 4},
        "joseki": {"ply": 6},
        "depth": {"ply": 10, "published": "smote", "ours": "ours"},
    },
    "amazons_match": {
        "loss": "soft_argmax",
        "opening_plies": 1,
        "matches": {"ours": {"a": "nets:{residual}", "b": "one_ply", "pairs": 1}},
    },
    "gomoku_generations": wanted(2),
    "gomoku_evaluate": {
        "opponents": {"weak": {"player": "random", "pairs": 2}},
        "anchor": "weak",
        "tables_against": ["weak"],
    },
    "growing_first": {"size": 5, "generations": 1},
    "growing_larger": {"6": {"before": "5", "generations": 1}},
    "depth_split": {"train": 75, "validation": 10, "test": 15},
}
BEST = "zero:artifacts/models/gomoku/02/best.pt,simulations=300,search=puct,chunk=8"
RESIDUAL = "nets:artifacts/models/amazons/residual/nets.pt"


def gomoku_records(count, first, second):
    rng, made = np.random.default_rng(0), []
    for gid in range(1, count + 1):
        state, actions = gomoku.initial_state(6), []
        while gomoku.winner(state) is None:
            actions.append(int(rng.choice(gomoku.legal_actions(state))))
            state = gomoku.play(state, actions[-1])
        names = (first, second) if gid % 2 else (second, first)
        about, won = ("gomoku", gid, "engine", "freestyle", 6, 6), gomoku.winner(state)
        made.append(GameRecord(*about, tuple(actions), won, False, *names, event="headline"))
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All that the stage reads."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        small_dataset(folder, 20, 6)
        records, samples, models = (folder / "artifacts" / name for name in ("records", "samples", "models"))
        people = {"first_name": PERSON, "second_name": "", "source": "littlegolem"}
        write_records(random_records(20, 0, 6, **people), records / "amazons/games.parquet")
        players = {"first_name": "one_ply", "second_name": RESIDUAL}
        others = {"first_name": "one_ply", "second_name": PERSON}
        matches = [*random_records(2, 5, 6, **others), *random_records(3, 6, 6, **players)]
        numbered = [replace(one, gid=gid) for gid, one in enumerate(matches)]
        write_records(numbered, records / "amazons/matches.parquet")
        samples.mkdir()
        (folder / "samples").rename(samples / "amazons")
        save_nets(models / "amazons/soft_argmax/nets.pt", small_nets(6))
        save_nets(models / "amazons/residual/nets.pt", small_residual(6))
        write_records(gomoku_records(6, BEST, "random"), records / "gomoku/matches.parquet")
        write_records(gomoku_records(4, "a", "b"), records / "growing/matches.parquet")
        for seed, path in enumerate((GenerationFiles(2).best, BoardFiles(6).model(0), BoardFiles(6).best)):
            save_model(path, fresh(SMALL["plain"], seed))
        games = [replace(random_record(seed), first_name=PERSON) for seed in range(12)]
        write_records(games, records / "joseki/games.parquet")
        save_library(built(games), models / "joseki/library.joseki")
        write_synthetic(samples / "depth")
        torch.manual_seed(1)
        for name, head, inputs, net in (
            ("smote", "linear", "published", PublishedDepthConfig(10, 1, 1)),
            ("ours", "costs", "full", ResidualDepthConfig(10, 7, 6, 4)),
        ):
            saved = SavedDepthNet(make_depth_net(net).eval(), "reached", 3, 7, head, inputs)
            save_depth_net(models / f"depth/{name}/model.pt", saved)
    return folder


@pytest.fixture
def project(made, monkeypatch):
    monkeypatch.chdir(made)
    POSITIONS.unlink(missing_ok=True)
    return made


def run(**changed):
    tree = {**PARAMS, **changed}
    with open("params.yaml", "w", encoding="utf-8") as file:
        file.write(yaml12.dump(tree))
    stage.main()
    return POSITIONS.read_bytes()


def test_every_system_has_boards_that_can_be_drawn(project):
    text = run()
    found = read_examples(POSITIONS)
    assert {one.system for one in found} == {"amazons", "gomoku", "growing", "joseki", "depth"}
    names = [one.name for one in found]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
    assert [len(one.panels) for one in found] == [4, 4, 2, 1, 2, 2, 3, 1, 1]
    for one in examples():
        for picture in one.pictures:
            assert picture.svg.startswith("<svg ")
    assert PERSON.encode() not in text
    assert b"Nakamura" not in text
    assert run() == text
    assert run(seed=2) != text


def test_amazons_probabilities_add_up_and_turn_is_the_records(project):
    run()
    first, last = [one for one in read_examples(POSITIONS) if one.name.startswith("amazons-ply")]
    assert first.name == "amazons-ply-2"
    gid = int(re.search(r"Game (\d+)", first.caption)[1])
    (record,) = [record for record in read_records("artifacts/records/amazons/games.parquet") if record.gid == gid]
    assert last.name == f"amazons-ply-{len(record.actions) - 1}"
    assert "from LittleGolem" in first.caption
    state = amazons.initial_state(6)
    for action in record.actions[:2]:
        state = amazons.play(state, action)
    ours, arrow, *_ = first.panels
    legal = {amazons.format_move(int(action), 6, 6) for action in amazons.legal_actions(state)}
    assert {one.move for one in ours.candidates} <= {move.split("/")[0] for move in legal}
    assert sum(ours.heat.values()) == pytest.approx(2, abs=0.01)
    assert sum(arrow.heat.values()) == pytest.approx(1, abs=0.01)
    assert f"{'-'.join(ours.played)}/{arrow.played[0]}" == amazons.format_move(record.actions[2], 6, 6)
    assert list(ours.last) == re.findall(r"[a-f]\d", amazons.format_move(record.actions[1], 6, 6))
    assert "/".join(ours.board) == re.sub(r"\d", lambda run: "." * int(run[0]), amazons.to_fen(state).split()[0])


def test_visits_are_of_a_search_and_game_is_complete(project):
    run()
    found = {one.name: one for one in read_examples(POSITIONS)}
    game, opening = found["gomoku-game"], found["gomoku-ply-0"]
    assert "generation 2" in game.caption
    assert [game.panels[0].texts[move] for move in game.moves] == [str(k + 1) for k in range(len(game.moves))]
    policy, visits = opening.panels
    assert all(round(share * 8, 3) == int(share * 8) for share in visits.heat.values())
    assert sum(policy.heat.values()) == pytest.approx(1, abs=0.01)
    assert opening.panels[0].played == (game.moves[0],)
    growing = found["growing-ply-4"]
    assert growing.panels[0].label == "the 5x5 board's net, carried over"
    assert growing.panels[0].heat != growing.panels[1].heat
    whole = found["amazons-game"]
    assert "White: one_ply. Black: residual net." in whole.caption
    assert "1. " in next(one for one in examples() if one.name == "amazons-game").moves


def test_a_single_board_has_nothing_carried_over(project):
    run(growing_first={"size": 6, "generations": 1}, growing_larger={})
    (growing,) = [one for one in read_examples(POSITIONS) if one.system == "growing"]
    assert len(growing.panels) == 2


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("records/amazons/games.parquet", "no such file; `dvc repro` makes it"),
        ("records/amazons/matches.parquet", "no such file; `dvc repro` makes it"),
        ("samples/amazons", "no such data set; `dvc repro amazons_samples`"),
        ("models/amazons/residual/nets.pt", "no such model; `dvc repro amazons_train`"),
        ("models/amazons/soft_argmax/nets.pt", "no such model; `dvc repro amazons_train`"),
        ("records/gomoku/matches.parquet", "no such file; `dvc repro` makes it"),
        ("models/gomoku/02/best.pt", "no such model; `dvc repro gomoku_generation`"),
        ("records/growing/matches.parquet", "no such file; `dvc repro` makes it"),
        ("models/growing/6/00.pt", "no such model; `dvc repro growing_board`"),
        ("models/growing/6/best.pt", "no such model; `dvc repro growing_board`"),
        ("records/joseki/games.parquet", "no such file; `dvc repro` makes it"),
        ("models/joseki/library.joseki", "no such file; `dvc repro joseki_build`"),
        ("samples/depth", "no such data set; `dvc repro depth_label`"),
        ("models/depth/smote/model.pt", "no such model; `dvc repro depth_train`"),
        ("models/depth/ours/model.pt", "no such model; `dvc repro depth_train`"),
    ],
)
def test_missing_inputs_are_named_and_nothing_is_written(project, name, complaint):
    path, aside = project / "artifacts" / name, project / "aside"
    path.rename(aside)
    try:
        with pytest.raises(ZugwerkError, match=f"artifacts/{re.escape(name)}.*: {complaint}"):
            run()
        assert not POSITIONS.exists()
    finally:
        aside.rename(path)


def changed(system, **values):
    section = PARAMS["report_positions"]
    return {"report_positions": {**section, system: {**section[system], **values}}}


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        (changed("amazons", match="nobody"), "report_positions.amazons.match: no 'nobody'; there are: ours"),
        (changed("gomoku", opponent="nobody"), "report_positions.gomoku.opponent: no 'nobody'; there are: weak"),
        (changed("gomoku", simulations=0), "report_positions.gomoku: simulations must be at least 1"),
        (changed("joseki", ply=-1), "report_positions.joseki: ply must be at least 0"),
        (changed("depth", depth=3), "report_positions.depth.depth: unknown key"),
        (changed("depth", ours="nobody"), "models/depth/nobody/model.pt: no such model"),
        ({"gomoku_evaluate": {**PARAMS["gomoku_evaluate"], "simulations": 5}}, "matches.parquet: no game of .* plays"),
    ],
)
def test_bad_params_are_named(project, params, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        run(**params)
    assert not POSITIONS.exists()
