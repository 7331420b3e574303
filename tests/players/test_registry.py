import subprocess
import sys

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.amazons.basic import OnePlyPlayer, RandomPlayer
from pipeline_src.players.options import Options
from pipeline_src.players.player import PlayerText
from pipeline_src.players.registry import make_player, maker_of, makers_of, open_maker


def test_texts_become_players():
    assert isinstance(make_player("amazons", "random"), RandomPlayer)
    player = make_player("amazons", " one_ply:noise=0.5 ")
    assert isinstance(player, OnePlyPlayer)
    assert player.noise == 0.5


@pytest.mark.parametrize(
    ("text", "name", "value", "options"),
    [
        ("random", "random", "", {}),
        ("nets:a/b.pt", "nets", "a/b.pt", {}),
        ("uct:movetime=1000,threads=2", "uct", "", {"movetime": "1000", "threads": "2"}),
        ("nets:a/b.pt,temperature=0.5", "nets", "a/b.pt", {"temperature": "0.5"}),
        ("nets:runs/lr=0.1/nets.pt", "nets", "runs/lr=0.1/nets.pt", {}),
        ("uci:", "uci", "", {}),
    ],
)
def test_a_text_taken_apart(text, name, value, options):
    assert PlayerText.parse(text) == PlayerText(name, value, options)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected NAME"),
        (":x", "expected NAME"),
        ("two_ply", "no player 'two_ply' for amazons; there are: random, one_ply, alphabeta, uct, nets, puct, uci"),
        ("random:5", "takes no '5' after the colon"),
        ("random:noise=1", "has no option 'noise'; its options: none"),
        ("one_ply:noise", "takes no 'noise'"),
        ("one_ply:noise=", "cannot read 'noise='"),
        ("one_ply:noise=1,noise=2", "cannot read 'noise=2'"),
        ("one_ply:noise=1,,", "cannot read ''"),
        ("one_ply:noise=loud", "noise='loud' is not a number"),
        ("one_ply:noise=-1", "noise must be at least 0"),
        ("one_ply:noise=nan", "noise must be at least 0"),
        ("one_ply:noise=inf", "noise must be at least 0"),
        ("nets:no/such/nets.pt", "no/such/nets.pt: no such model; `dvc repro amazons_train` makes it"),
        ("nets:no/such/nets.pt,temperature=1", "has no option 'temperature'"),
    ],
)
def test_what_cannot_be_read_is_said(text, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        make_player("amazons", text)


def test_a_game_without_players():
    with pytest.raises(ZugwerkError, match="for chess"):
        make_player("chess", "random")


@pytest.mark.parametrize("game", ["amazons", "gomoku"])
def test_every_maker_takes_options_with_an_example_that_it_is_meant_for(game):
    for where in makers_of(game).values():
        _, options = open_maker(where)
        assert issubclass(options, Options)
        assert maker_of(game, PlayerText.parse(options.EXAMPLE)) == where


def test_players_without_a_net_bring_no_torch():
    code = "import sys; from pipeline_src.players.registry import make_player as m; m('amazons', 'one_ply'); "
    subprocess.run([sys.executable, "-c", code + "sys.exit('torch' in sys.modules)"], check=True)
