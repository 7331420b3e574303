"""The notebook runs, and shows the outputs of its cells."""

import copy
import json
import re

from tests.docs.notebook import FILE, run


def kinds(cell):
    """The kinds of a cell's outputs, and the words that it prints: processors differ in the last digits of numbers."""
    lines = [line for one in cell["outputs"] for line in one.get("text", [])]
    words = [re.sub(r"[\d.]+", "0", line.partition(":")[0]) for line in lines]
    return [sorted(one.get("data", [one["output_type"]])) for one in cell["outputs"]], words


def test_the_notebook_shows_what_its_cells_print():
    committed = json.loads(FILE.read_text())["cells"]
    made = copy.deepcopy(committed)
    run(made)
    code = [cell for cell in made if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in code)
    assert "image/svg+xml" in json.dumps(code[0]["outputs"])
    then = [cell for cell in committed if cell["cell_type"] == "code"]
    assert list(map(kinds, code)) == list(map(kinds, then))
