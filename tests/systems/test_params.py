"""Values of params.yaml that a system refuses, with the key and what would be right."""

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import build
from pipeline_src.reference.stage_code import SECTIONS
from tests.profiles import profile_tree

TREE = profile_tree("laptop")
WRONG = [
    ("amazons_parse.min_plies", 0, "min_plies must be at least 1"),
    ("amazons_parse.variants", [], "variants must name at least one, each once"),
    ("amazons_parse.variants", ["standard", "standard"], "variants must name at least one, each once"),
    ("amazons_parse.variants", ["size8"], "'size8' is not one of standard, cross"),
    ("amazons_parse.max_plies", 9, "amazons_parse.max_plies: unknown key"),
    ("amazons_samples.size", 7, "amazons_samples.size: 7 is not one of 6, 8, 10"),
    ("amazons_samples", {"size": 8, "variants": ["cross"]}, "the cross start is for size 10, not 8"),
    ("amazons_samples.split.validation", 0, "amazons_samples.split: validation must be above 0"),
    ("amazons_samples.teachers", "(master", "teachers '(master' is no regular expression: missing )"),
    ("amazons_models.trained", {"cross_entropy": "amazons_train"}, "must name residual"),
    ("amazons_models.trained.residual", "amazons_train", "trained with amazons_residual, not amazons_train"),
    ("amazons_train.optimizer", "adamw", "amazons_train.optimizer: unknown key"),
    ("amazons_train.dropout", 1.0, "dropout must be at least 0 and below 1, not 1.0"),
    ("amazons_train.width", 0.0, "width must be above 0, not 0.0"),
    ("amazons_train.value_weight", -1.0, "value_weight must be at least 0"),
    ("amazons_residual.blocks", 0, "blocks must be at least 1"),
    ("amazons_residual.width", 0.5, "amazons_residual.width: unknown key"),
    ("amazons_match.matches", {}, "matches must name at least one"),
    ("amazons_match.opening_plies", 0, "opening_plies must be 1 to 20"),
    ("depth_game.engine", "width=40,depth=4", "engine: depth=4: what chooses the depth"),
    ("depth_game.engine", "width=40,model=net.pt", "engine: model=net.pt: what chooses the depth"),
    ("depth_game.engine", "width=40,lowest=2", "engine: lowest=2: what chooses the depth"),
    ("depth_game.highest", 17, "highest"),
    ("depth_train.models.x", {"label": "reached", "balance": "smote", "inputs": "full"}, "smote interpolates between"),
    ("depth_match.players.table", "depth=2", "the name table is that of the published opponent"),
    ("depth_match.matches.x", {"a": "table", "b": "table", "pairs": 1}, "matches.x.a: no player 'table'"),
    ("report_positions.gomoku.simulations", 0, "report_positions.gomoku: simulations must be at least 1"),
    ("report_positions.joseki.ply", -1, "report_positions.joseki: ply must be at least 0"),
    ("report_positions.depth.depth", 3, "report_positions.depth.depth: unknown key"),
]


def with_value(tree, keys, value):
    """A tree with another value at some keys."""
    key, *below = keys
    if below:
        return {**tree, key: with_value(tree.get(key, {}), below, value)}
    return {**tree, key: value}


@pytest.mark.parametrize(("key", "value", "words"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_a_wrong_value_is_refused_by_its_key(key, value, words):
    section, _, below = key.partition(".")
    tree = with_value(TREE[section], below.split("."), value) if below else {**TREE[section], **value}
    with pytest.raises(ZugwerkError) as error:
        build(SECTIONS[section], tree, section, "params.yaml")
    assert str(error.value).startswith(f"params.yaml: {section}")
    assert words in str(error.value)
