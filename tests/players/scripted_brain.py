"""A brain on the standard library alone: ``scripted_brain.py MODE [LOG]``; it plays the first empty cell, or worse.

Modes: good, chatty (lines that are no answer, then the move), illegal (a stone on a stone), outside, gibberish, error,
swap, three, number, suggest, hang, crash (after words on stderr), leaves (with status 0), late=MS, slow=MS (with less
than four stones), flood, refuses (START), rule (refuses INFO rule), info (refuses INFO time_left, then is silent), mute
(no answer to START), cr (CR ends its lines), learns (writes LOG after END), dead (ends at once), once (crashes in its
first life's first move, by the file LOG, and is good after that), fifteen (refuses other boards than 15x15), stays
(after END), plain (answers ABOUT without name=), unknown (does not know ABOUT), race=MS (answers ERROR to all that
comes within so many ms of its last answer), deaf=N (gives no answer to its Nth START), starts=N (answers ERROR to all
STARTs after N, counted over all its lives by the lines of LOG).
"""

import select
import sys
import time
from pathlib import Path


def say(text):
    sys.stdout.write(text + ("\r" if sys.argv[1] == "cr" else "\r\n"))
    sys.stdout.flush()


class Brain:
    def __init__(self, mode, log):
        self.mode, _, self.number = mode.partition("=")
        self.log = log
        self.width = self.height = 0
        self.stones = set()
        self.silent = self.in_board = False
        self.starts = 0

    def open(self, width, height):
        self.width, self.height, self.stones = width, height, set()
        self.starts += 1
        if self.mode == "deaf" and self.starts == int(self.number):
            return
        if self.mode == "starts" and self.log.read_text().count("START") > int(self.number):
            say("ERROR Unknown command: START")
            return
        if self.mode != "mute":
            refused = self.mode == "refuses" or (self.mode == "fifteen" and (width, height) != (15, 15))
            say("ERROR too big" if refused else "OK")

    def move(self):
        mode = self.mode
        if mode == "once":
            mode = "good" if self.log.exists() else "crash"
            self.log.write_text("")
        x, y = next((x, y) for y in range(self.height) for x in range(self.width) if (x, y) not in self.stones)
        if mode == "late":
            time.sleep(float(self.number) / 1000)
        if mode == "slow" and len(self.stones) < 4:
            time.sleep(float(self.number) / 1000)
        if mode == "hang" or self.silent:
            time.sleep(1000)
        if mode == "crash":
            sys.stderr.write("warming up\nno memory \x1b[31mleft\n")
            sys.exit(3)
        if mode == "leaves":
            sys.exit(0)
        while mode == "flood":
            say("MESSAGE more")
        if mode == "chatty":
            say("MESSAGE 1,1 is nice\r\nDEBUG x\r\n\r\n(no prefix)\r\nUNKNOWN")
        if mode == "illegal":
            x, y = min(self.stones)
        self.stones.add((x, y))
        wrong = {
            "gibberish": "h8",
            "swap": "SWAP",
            "three": "7,7,1",
            "number": "112",
            "error": "ERROR I give up",
            "suggest": "SUGGEST 2,2",
            "outside": "77,3",
        }
        say(wrong.get(mode, f"{x},{y}"))

    def answer(self, line):
        name, _, rest = line.strip().partition(" ")
        if name == "START":
            self.open(int(rest), int(rest))
        elif name == "RECTSTART":
            self.open(*map(int, rest.split(",")))
        elif name == "BEGIN":
            self.move()
        elif name == "TURN":
            x, y = map(int, rest.split(","))
            if x >= self.width or y >= self.height:
                say("ERROR no such cell")
                return
            self.stones.add((x, y))
            self.move()
        elif name == "ABOUT":
            say({"plain": "Scripted 1.0 by nobody", "unknown": "UNKNOWN command"}.get(self.mode, 'name="scripted"'))
        elif name == "XYZZY":
            say("UNKNOWN command")
        elif name == "BOARD":
            self.stones, self.in_board = set(), True
        elif name == "DONE" and self.in_board:
            self.in_board = False
            self.move()
        elif name == "INFO" and (self.mode, rest.split()[0]) in (("rule", "rule"), ("info", "time_left")):
            say(f"ERROR no {rest.split()[0]}")
            self.silent = True
        elif name == "END" and self.mode == "learns":
            time.sleep(0.3)
            self.log.write_text("learnt")
        elif name == "END" and self.mode == "stays":
            time.sleep(1000)
        elif name == "END" and self.mode != "hang":
            sys.exit(0)
        elif name[:1].isdigit() and self.in_board:
            self.stones.add(tuple(map(int, name.split(",")[:2])))
        elif name != "INFO":
            say(f"ERROR Unknown command: {line.strip()}")


def lines(brain):
    """Yield the lines of stdin; in mode race, refuse those that come too soon after an answer."""
    if brain.mode != "race":
        yield from sys.stdin
        return
    with open(0, "rb", buffering=0, closefd=False) as stdin:  # unbuffered, so that select shows what has come
        while line := stdin.readline().decode():
            end = time.monotonic() + float(brain.number) / 1000  # from before the answer: a busy machine refuses less
            yield line
            if not brain.in_board and not line.startswith("INFO"):
                while (left := end - time.monotonic()) > 0 and select.select([stdin], [], [], left)[0]:
                    if not (line := stdin.readline().decode()):
                        return
                    say(f"ERROR Unknown command: {line.strip()}")


def main():
    mode, log = sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if mode == "dead":
        sys.exit(1)
    if mode == "mark":
        sys.stdout.write("\ufeff")
    brain = Brain(mode, log)
    for line in lines(brain):
        if log is not None and mode not in ("once", "learns"):
            with open(log, "a") as file:
                file.write(line)
        brain.answer(line)


if __name__ == "__main__":
    main()
