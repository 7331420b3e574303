"""An engine on the standard library alone: ``scripted_engine.py MODE [LOG]``; it plays the first legal turn, or worse.

Modes: good, none, illegal, garbage (lines that mean nothing, then the move), gibberish (a move that is none), hang,
crash, leaves (with status 0), late=MS, flood, silent (never says uciok), child (starts a process that outlives it),
dead (ends at once), once (crashes in its first life's first search, by the file LOG, and is good after that), eager
(moves at once, whatever the words of go), pairs (writes ``d1d7,d7g7`` and reads nothing else; like Fairy-Stockfish
it stops at the first move that it cannot read), variant (like pairs, and plays e2e4 before UCI_Variant is amazons).
"""

import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.games.amazons_reference import SlowAmazons

PAIR = re.compile(r"([a-z]\d+)([a-z]\d+),\2([a-z]\d+)")
START = "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w"


def name(square):
    return f"{'abcdefghij'[square[1]]}{square[0] + 1}"


def squares(text):
    found = []
    for letter in text:
        if letter.isalpha():
            found.append(letter)
        else:
            found[-1] += letter
    return [(int(part[1:]) - 1, "abcdefghij".index(part[0])) for part in found]


def place(words, pairs):
    at = words.index("moves") if "moves" in words else len(words)
    board = SlowAmazons(START if words[0] == "startpos" else " ".join(words[1:3]))
    for move in words[at + 1 :]:
        if pairs and not PAIR.fullmatch(move):
            break
        turn = tuple(squares(PAIR.sub(r"\1\2\3", move)))
        assert turn in board.turns(), move
        board.play(*turn)
    return board


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def search(mode, board, log, words):
    mode, _, number = mode.partition("=")
    turns = board.turns()
    best = "".join(map(name, turns[0])) if turns else "(none)"
    if "searchmoves" in words and mode != "eager":
        best = words[words.index("searchmoves") + 1]
    if mode in ("pairs", "variant"):
        best = re.sub(r"(?<=\d)([a-z]\d+)([a-z]\d+)$", r"\1,\1\2", best)
    if mode == "once":
        if log.exists():
            mode = "good"
        else:
            log.write_text("")
            mode = "crash"
    if mode == "late":
        time.sleep(float(number) / 1000)
    if mode == "hang":
        time.sleep(1000)
    if mode == "crash":
        sys.exit(3)
    if mode == "leaves":
        sys.exit(0)
    if mode == "garbage":
        sys.stdout.buffer.write(b"\xff\xfe\x00 bestmove\n\ninfo\ninfo score\n" + b"x" * 100_000 + b"\nbestmover a1\n")
    if mode == "flood":
        while True:
            say("info string more")
    if mode == "child":
        subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(1000)"])
    say("bestmove " + {"none": "(none)", "illegal": "a1a1a1", "gibberish": "e4 e5", "chess": "e2e4"}.get(mode, best))


def main():
    mode, log = sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if mode == "dead":
        sys.exit(1)
    variant, going = False, []
    for line in sys.stdin:
        if log is not None and mode != "once":
            with open(log, "a") as file:
                file.write(line)
        words = line.split()
        if words[:1] == ["uci"]:
            say("id name scripted")
            if mode != "silent":
                say("uciok")
        elif words[:1] == ["isready"]:
            say("readyok")
        elif words[:1] == ["position"]:
            board = place(words[1:], pairs=mode in ("pairs", "variant"))
        elif words == ["setoption", "name", "UCI_Variant", "value", "amazons"]:
            variant = True
        elif words[:1] == ["go"] or (going and words[:1] in (["stop"], ["ponderhit"])):
            going = [] if going else words
            if mode != "eager" and {"infinite", "ponder"} & {*going}:
                continue
            search("chess" if mode == "variant" and not variant else mode, board, log, words)
            going = []
        elif words[:1] == ["quit"]:
            return


if __name__ == "__main__":
    main()
