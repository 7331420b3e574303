from pathlib import Path

import pytest

from flows.targets import read_targets
from pipeline_src.errors import ZugwerkError


def test_reads_stages_and_groups_in_the_order_of_the_file(checkout: Path) -> None:
    assert read_targets(checkout) == ["toy_crawl", "toy_count", "toy_train"]
    assert read_targets(checkout, "toy") == read_targets(checkout)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"dvc.yaml: No such file or directory; give the folder"),
        ("stages: [", r"dvc.yaml: cannot read the stages"),
        ("vars: []", r"dvc.yaml: cannot read the stages: 'stages'"),
        ("stages: {}", r"dvc.yaml: no stage$"),
        ("stages: {amazonsx_a: {}}", r"dvc.yaml: no stage whose name starts with 'amazons_'"),
    ],
)
def test_says_what_is_wrong_with_dvc_yaml(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "dvc.yaml").write_text(text)
    with pytest.raises(ZugwerkError, match=message):
        read_targets(tmp_path, None if text == "stages: {}" else "amazons")
