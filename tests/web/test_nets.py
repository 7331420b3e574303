"""The page on what the nets see: models, views by a net in another process, and the page in a browser."""

import asyncio
import os
import signal
from types import SimpleNamespace

import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.packaged import packaged_nets
from pipeline_src.systems.amazons_net.nets import ResidualConfig, ResidualNets, save_nets
from pipeline_src.systems.gomoku_zero.models import save_model
from pipeline_src.systems.gomoku_zero.nets import PlainConfig, PlainNet
from pipeline_src.web import nets as routes
from pipeline_src.web.app import create_app
from pipeline_src.web.child import board_of
from pipeline_src.web.settings import Settings
from tests.web.conftest import BASE, PHONE, TestClient, ask, fits, run, wait


@pytest.fixture(scope="session")
def nets(web_folder):
    """Untrained ones: two generations of Gomoku, and one of the Amazons."""
    torch.manual_seed(1)
    config = PlainConfig(height=6, width=6, positions=1, filters=(4,))
    for number in (1, 2):
        save_model(web_folder / f"models/gomoku/0{number}/best.pt", PlainNet(config), variant="freestyle-4")
    save_nets(web_folder / "models/amazons/residual/nets.pt", ResidualNets(ResidualConfig(channels=8, blocks=1)))
    broken = web_folder / "models/gomoku/03/best.pt"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"no net")
    (web_folder / "models/gomoku/01/learner.pt").write_bytes(b"no net either")
    return web_folder / "models"


def test_all_nets_are_listed_without_opening_one(client, nets):
    found = ask(client, "nets/models")["models"]
    nets = sorted(packaged_nets(), key=lambda net: (net.card.game, -net.card.size))
    assert [one["model"] for one in found[: len(nets)]] == [f"package:{net.card.name}" for net in nets]
    assert found[0]["name"] == "comes with the package (amazons, 10x10 standard)"
    groups = {one["name"]: one["group"] for one in found}
    assert groups["gomoku/01/best"] == groups["gomoku/02/best"] == "gomoku/*/best"
    assert groups["amazons/residual/nets"] == "amazons"
    assert not any("learner" in name for name in groups)


def test_packaged_nets_have_their_own_boards(client, nets):
    for net in packaged_nets():
        assert list(board_of(net.card.game, str(net.file))) == [net.card.board]
        assert ask(client, "nets/position", model=f"package:{net.card.name}")["height"] == net.card.size


def test_gomoku_before_and_after_the_search(client, nets):
    model = f"file:{nets}/gomoku/02/best.pt"
    position = ask(client, "nets/position", model=model, moves="c3,d4")
    assert (position["height"], position["variant"], position["to_play"]) == (6, "freestyle-4", "Black")
    assert len(position["legal"]) == 34
    assert position["queen"] == position["turns"] == {}
    view = ask(client, "nets/view", model=model, moves="c3,d4", simulations=30)
    assert sum(view["policy"].values()) == pytest.approx(1, abs=0.01)
    assert sum(view["visits"].values()) == pytest.approx(1, abs=0.01)
    assert not {"c3", "d4"} & (view["policy"].keys() | view["visits"].keys())
    assert 0 <= view["win_rate"] <= 1
    other = ask(client, "nets/view", model=f"file:{nets}/gomoku/01/best.pt", moves="c3,d4", simulations=30)
    assert other["policy"] != view["policy"]


def test_a_turn_of_the_amazons_in_its_three_parts(client, nets):
    model = f"file:{nets}/amazons/residual/nets.pt"
    position = ask(client, "nets/position", model=model)
    assert sum(len(arrows) for tos in position["turns"].values() for arrows in tos.values()) == 2176
    assert position["queen"]["d2"] == "both"
    assert (position["king"]["d2"], position["king"]["d9"]) == ("first", "second")
    view = ask(client, "nets/view", model=model, simulations=20)
    assert view["start_policy"].keys() <= {"a4", "d1", "g1", "j4"}
    assert sum(view["start_policy"].values()) == pytest.approx(1, abs=0.01)
    assert sum(view["start_visits"].values()) == pytest.approx(1, abs=0.01)
    one = ask(client, "nets/view", model=model, simulations=20, move="d1")
    assert sum(one["policy"].values()) == pytest.approx(one["start_policy"]["d1"], abs=0.03)
    assert one["arrow_after"].startswith("d1-")
    both = ask(client, "nets/view", model=model, simulations=20, move="d1-d7")
    assert both["arrow_after"] == "d1-d7"
    assert sum(both["arrow_policy"].values()) == pytest.approx(1, abs=0.01)
    assert "d1" in both["arrow_policy"]  # the square that she left


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"model": "file:models/gomoku/03/best.pt"}, "damaged, or not a model"),
        ({"model": "file:models/gomoku/09/best.pt"}, "no such file below"),
        ({"model": "file:/etc/passwd"}, "no such file below"),
        ({"model": "package:chess"}, "no such file below"),
        ({"model": "package:gomoku_zero-15x15-freestyle", "moves": "e5,e5"}, "move 2, e5, is not legal"),
        ({"model": "package:gomoku_zero-15x15-freestyle", "moves": "e5" * 9}, "not a move"),
        ({"model": "package:amazons_net-10x10-standard", "move": "d1-d1"}, "no legal turn begins"),
        ({"model": "package:amazons_net-10x10-standard", "move": "z1"}, "no such square"),
    ],
)
def test_bad_question_or_net_is_refused(client, nets, query, words):
    model = query["model"].replace("file:models", f"file:{nets}")
    assert words in ask(client, "nets/view", 400, **(query | {"model": model}))["error"]


@pytest.mark.slow
def test_killed_process_is_reported_and_replaced(client, nets):
    model = f"file:{nets}/gomoku/02/best.pt"
    ask(client, "nets/view", model=model, simulations=5)
    engines = client.app.app.state.engines._all
    for engine in engines:
        os.kill(engine.process.pid, signal.SIGKILL)
    wait(lambda: not any(engine.alive for engine in engines))
    assert ask(client, "nets/view", model=model, simulations=5)["simulations"] == 5


@pytest.mark.slow
def test_page_waits_while_players_are_loaded(web_folder, nets):
    with TestClient(create_app(Settings(folders=(web_folder,), engines=1, ahead=True)), base_url=BASE) as client:
        wait(lambda: not client.app.state.engines.has_room)
        assert ask(client, "nets/view", model=f"file:{nets}/gomoku/02/best.pt", simulations=5)["simulations"] == 5


def test_a_question_of_a_closed_page_is_not_asked():
    async def gone():
        return True

    async def asked():
        state = SimpleNamespace(engines=None, ahead=None, seeing=asyncio.Lock())  # no engines: they are not asked
        await routes._ask(SimpleNamespace(app=SimpleNamespace(state=state), is_disconnected=gone), "see")

    with pytest.raises(ZugwerkError, match="nobody waits"):
        run(asked())


def test_link_to_a_missing_net_is_left_out(client, nets, tmp_path):
    net, link = tmp_path / "net.pt", nets / "gomoku/04/best.pt"
    net.touch()
    link.parent.mkdir()
    link.symlink_to(net)
    assert f"file:{link}" in {one["model"] for one in ask(client, "nets/models")["models"]}
    net.unlink()
    assert f"file:{link}" not in {one["model"] for one in ask(client, "nets/models")["models"]}
    link.unlink()
    link.parent.rmdir()


def test_the_page_by_mouse_and_keyboard(open_page, nets):
    page = open_page(f"#/nets?model=file:{nets}/gomoku/02/best.pt")
    page.get_by_label("Beside").select_option(label="gomoku/01/best (the one before)")
    page.get_by_role("heading", name="gomoku/01/best").wait_for()
    page.locator(".nets-boards table").nth(1).wait_for()
    cell = page.locator('section:first-child [data-cell="c3"]')
    cell.click()
    page.see("White to move, move 2")
    cell.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.see("Black to move, move 3")
    page.push("One move back")
    page.see("White to move, move 2")
    page.get_by_label("visits of the search").check()
    page.locator(".nets-boards table").nth(1).wait_for()
    page.fine(PHONE)


def test_the_page_shows_the_parts_of_a_turn(open_page, nets):
    page = open_page(f"#/nets?model=file:{nets}/amazons/residual/nets.pt", PHONE)
    page.get_by_role("cell", name="-").first.wait_for()
    page.touch("d1", "d7")
    page.see("The arrow after d1-d7.")
    page.touch("g7")
    page.see("Black to move, move 2")
    page.get_by_label("queen\u2019s reach").check()
    page.see("squares sooner")
    assert fits(page)


def test_page_reports_a_damaged_net(open_page, nets):
    page = open_page()
    page.expected = ["400"]
    page.evaluate(f"location.hash = '#/nets?model=file:{nets}/gomoku/03/best.pt'")
    page.see("damaged, or not a model of self-play")
