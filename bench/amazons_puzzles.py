"""Positions of the Amazons in which one turn is far better than all others, for the puzzles of the page Analyse.

``python -m bench.amazons_puzzles GAMES.parquet OUT.js`` looks at the positions of recorded games, first with few nodes,
and keeps those that a search with a hundred times as many confirms: all other turns are at least `GAP` of win rate
behind the best one. One position a game at most. The package's, ``pipeline_src/web/static/analyse/amazons.js``, are of
the laptop's engine games, artifacts/raw/amazons/archive.parquet.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from tqdm import tqdm

import zugwerk
from pipeline_src.errors import run_main
from pipeline_src.files import written_aside
from pipeline_src.web.child import win_rate

PLAYER = "alphabeta"
QUICK, DEEP = 10_000, 1_000_000  # Nodes of a search
GAP = 0.2  # Least win rate that the second best turn gives away
CLOSE = 0.12  # The same by the quick search, which is less sure
EARLIEST, LATEST, LINE = 12, 52, 5  # Turns played before a puzzle, and turns of its line
HEAD = "// Written by `python -m bench.amazons_puzzles`: positions in which one turn is far better than all others.\n\n"


def main() -> None:
    """Search, and write the puzzles as a module of JavaScript."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, help="records as Parquet")
    parser.add_argument("out", type=Path)
    parser.add_argument("--most", type=int, default=40, help="puzzles to find")
    asked = parser.parse_args()
    rows = pq.read_table(asked.games).to_pylist()
    puzzles: list[dict[str, Any]] = []
    with zugwerk.player(PLAYER, "amazons") as player, tqdm(total=asked.most, desc="puzzles", disable=None) as bar:
        for row in rows:
            if found := puzzle(player, row):
                puzzles.append(found)
                bar.update()
            if len(puzzles) == asked.most:
                break
    lines = "".join(f"  {json.dumps(one)},\n" for one in puzzles)
    with written_aside(asked.out) as aside:
        aside.write_text(f"{HEAD}export const AMAZONS = [\n{lines}];\n")
    print(f"{asked.out}: {len(puzzles)} puzzles")


def puzzle(player: zugwerk.Player, row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the first puzzle of a game: FEN, best line, and what the next best turn gives away."""
    position = zugwerk.game("amazons", row["height"], row["variant"])
    for ply, action in enumerate(row["actions"][:LATEST]):
        if ply >= EARLIEST and gap(player, position, QUICK)[1] >= CLOSE:
            thought, lost = gap(player, position, DEEP)
            if lost >= GAP and len(thought.lines[0].moves) > 1:
                return {"fen": position.fen, "line": thought.lines[0].moves[:LINE], "lost": round(lost, 3)}
        position = position.play(action)
    return None


def gap(player: zugwerk.Player, position: zugwerk.Position, nodes: int) -> tuple[zugwerk.Thought, float]:
    """Return a search, and the win rate between its best two turns; 0 where there is only one."""
    thought = player.think(position, nodes=nodes, lines=2)
    rates = [win_rate("amazons", PLAYER, line.value) or 0.0 for line in thought.lines]
    return thought, rates[0] - rates[1] if len(rates) > 1 else 0.0


if __name__ == "__main__":
    run_main(main)
