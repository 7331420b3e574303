"""``python -m tests.jit.exps FOLDER`` writes a module with one kernel: exp of the numbers of an array."""

import json
import sys
from math import exp
from pathlib import Path

import numpy as np

from pipeline_src.jit import Need, njit
from pipeline_src.jit.wasm import Engine, export, lay_out, raw
from pipeline_src.web.page import write


@njit
def exps(numbers, found):
    for i in range(len(numbers)):
        found[i] = exp(numbers[i])


if __name__ == "__main__":
    raw()
    folder, numbers, found = Path(sys.argv[1]), *np.zeros((2, 4096), np.float32)
    engine = Engine({"exps": Need(exps, (numbers, found))}, {"numbers": numbers, "found": found})
    board = lay_out(engine)
    write(folder, "exps.data", board.files[""])
    write(folder, "exps.json", json.dumps(board.layout).encode())
    write(folder, "exps.wasm", export(engine.calls, board.layout["end"]))
