from pathlib import Path

import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.amazons_net.models import load_nets, save_nets
from pipeline_src.systems.amazons_net.net import AmazonsConfig, AmazonsNets
from pipeline_src.systems.amazons_net.protocol import Nets
from pipeline_src.systems.amazons_net.residual import PLANES, ResidualConfig, ResidualNets

PUBLISHED = AmazonsConfig(size=6, width=0.1, mover_relative=True)
RESIDUAL = ResidualConfig(size=6, channels=5, blocks=2, embedding=3)


def fresh(kind: str, seed: int = 1) -> Nets:
    torch.manual_seed(seed)
    nets = AmazonsNets(PUBLISHED) if kind == "published" else ResidualNets(RESIDUAL)
    nets.both(*(torch.rand(2, 4 if kind == "published" else PLANES, 6, 6) for _ in "ab"))  # moves running means
    return nets.eval()


@pytest.mark.parametrize("kind", ["published", "residual"])
def test_saved_nets_come_back_equal_and_ready_to_play(tmp_path: Path, kind: str) -> None:
    nets = fresh(kind)
    save_nets(tmp_path / "nets.pt", nets)
    again = load_nets(tmp_path / "nets.pt")
    assert type(again) is type(nets)
    assert again.config == nets.config
    assert not again.training
    features = torch.rand(2, 4 if kind == "published" else PLANES, 6, 6) * 3
    with torch.no_grad():
        for ask in ("move", "arrow"):
            for mine, theirs in zip(getattr(nets, ask)(features), getattr(again, ask)(features), strict=True):
                assert torch.equal(mine, theirs)


@pytest.mark.parametrize("kind", ["published", "residual"])
def test_the_bytes_do_not_depend_on_the_name(tmp_path: Path, kind: str) -> None:
    nets = fresh(kind)
    save_nets(tmp_path / "a.pt", nets)
    save_nets(tmp_path / "other" / "b.pt", nets)
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "other" / "b.pt").read_bytes()
    assert [p.name for p in tmp_path.glob("*.p*")] == ["a.pt"]
    save_nets(tmp_path / "c.pt", load_nets(tmp_path / "a.pt"))
    assert (tmp_path / "c.pt").read_bytes() == (tmp_path / "a.pt").read_bytes()


def test_a_missing_model_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ZugwerkError, match=r"none\.pt: no such model$"):
        load_nets(tmp_path / "none.pt")


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "nets.pt"
    save_nets(path, fresh("residual"))
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"not a model"):
        path.write_bytes(content)
        with pytest.raises(ZugwerkError, match=r"nets\.pt: damaged, or not a model"):
            load_nets(path)
    empty = {"config": {"size": 6}, "state_dict": {}}
    for other in ({"weights": 1}, [1], empty, empty | {"kind": "other"}, empty | {"kind": "residual"}, {"kind": []}):
        torch.save(other, path)
        with pytest.raises(ZugwerkError, match=r"nets\.pt: damaged, or not a model"):
            load_nets(path)
