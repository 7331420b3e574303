"""The notebook runs, and shows the outputs of its cells; ``python -m tests.docs.test_notebook`` writes them."""

import ast
import contextlib
import copy
import io
import json
import re
from typing import Any

from tests.layout.imports import ROOT

FILE = ROOT / "docs/notebook.ipynb"


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


def run(cells: list[dict[str, Any]]) -> None:
    """Run the code of a notebook's cells in one namespace, and put what they print and return into them."""
    names: dict[str, Any] = {}
    for number, cell in enumerate((cell for cell in cells if cell["cell_type"] == "code"), 1):
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        cell["execution_count"], cell["outputs"], told = number, [], io.StringIO()
        with contextlib.redirect_stdout(told):
            exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names) if last else None
        if told.getvalue():
            text = told.getvalue().splitlines(keepends=True)
            cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": text})
        if value is not None:
            data = {"text/plain": [repr(value)]}
            if picture := getattr(value, "_repr_svg_", lambda: None)():
                data["image/svg+xml"] = picture.splitlines(keepends=True)
            result = {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data}
            cell["outputs"].append(result)


if __name__ == "__main__":
    notebook = json.loads(FILE.read_text())
    run(notebook["cells"])
    FILE.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
