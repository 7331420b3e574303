"""A brain on the standard library alone: ``scripted_brain.py MODE [LOG]``; it plays the first empty cell, or worse.

Modes: good, chatty (lines that are no answer, then the move), illegal (a stone on a stone), outside, gibberish, error,
hang, crash, late=MS, flood, refuses (START), dead (ends at once), once (crashes in its first life's first move, by the
file LOG, and is good after that).
"""

import sys
import time
from pathlib import Path


def say(text):
    sys.stdout.write(text + "\r\n")
    sys.stdout.flush()


class Brain:
    def __init__(self, mode, log):
        self.mode, _, self.number = mode.partition("=")
        self.log = log
        self.width = self.height = 0
        self.stones = set()

    def open(self, width, height):
        self.width, self.height, self.stones = width, height, set()
        say("ERROR too big" if self.mode == "refuses" else "OK")

    def move(self):
        mode = self.mode
        if mode == "once":
            mode = "good" if self.log.exists() else "crash"
            self.log.write_text("")
        x, y = next((x, y) for y in range(self.height) for x in range(self.width) if (x, y) not in self.stones)
        if mode == "late":
            time.sleep(float(self.number) / 1000)
        if mode == "hang":
            time.sleep(1000)
        if mode == "crash":
            sys.exit(3)
        while mode == "flood":
            say("MESSAGE more")
        if mode == "chatty":
            say("MESSAGE 1,1 is nice\r\nDEBUG x\r\n\r\n(no prefix)\r\nUNKNOWN\r\nSUGGEST 2,2")
        if mode == "illegal":
            x, y = min(self.stones)
        self.stones.add((x, y))
        say({"gibberish": "h8", "error": "ERROR I give up", "outside": "77,3"}.get(mode, f"{x},{y}"))

    def answer(self, line):
        name, _, rest = line.strip().partition(" ")
        if name == "START":
            self.open(int(rest), int(rest))
        elif name == "RECTSTART":
            self.open(*map(int, rest.split(",")))
        elif name == "BEGIN":
            self.move()
        elif name == "TURN":
            self.stones.add(tuple(map(int, rest.split(","))))
            self.move()
        elif name == "BOARD":
            self.stones = set()
        elif name == "DONE":
            self.move()
        elif name[:1].isdigit():
            self.stones.add(tuple(map(int, name.split(",")[:2])))


def main():
    mode, log = sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if mode == "dead":
        sys.exit(1)
    brain = Brain(mode, log)
    for line in sys.stdin:
        if log is not None and mode != "once":
            with open(log, "a") as file:
                file.write(line)
        brain.answer(line)


if __name__ == "__main__":
    main()
