from copy import deepcopy

import pytest

from pipeline_src.project.profile import profile_names
from pipeline_src.systems.amazons_net.declaration import departures, printed_words
from tests.layout.imports import ROOT
from tests.profiles import profile_tree


def tree(profile, **changed):
    """Params of a profile with other values, by the end of their keys."""
    params = deepcopy(profile_tree(profile))
    for name, value in changed.items():
        section = "amazons_match" if name == "loss" else "amazons_train"
        assert name in params[section]
        params[section][name] = value
    return params


def test_the_profile_is_as_printed_and_no_other_is():
    assert [name for name in profile_names(ROOT) if not departures(tree(name))] == ["as_printed"]
    assert departures(tree("overnight"))["amazons_train.width"] == 0.5


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, "as printed"),
        ({"batch": 64}, "as printed"),
        ({"starting_weights": "mirrored"}, "as printed but for starting_weights mirrored"),
        ({"loss": "cross_entropy"}, "as printed but for loss cross_entropy"),
        (
            {"loss": "cross_entropy", "starting_weights": "mirrored"},
            "as printed but for loss cross_entropy and starting_weights mirrored",
        ),
        ({"width": 0.5, "dropout": 0.0, "augment": True}, ""),
    ],
)
def test_departures_from_print_are_listed(changed, words):
    assert printed_words(tree("as_printed", **changed)) == words


def test_params_that_do_not_say_are_not_called_as_printed():
    assert printed_words({}) == printed_words(tree("laptop")) == printed_words(tree("paper")) == ""
