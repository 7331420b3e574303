"""Stones of Black in Renju, forbidden or not, with the reason of each: `POSITIONS`.

The stone asked about is ``*``; ``x`` is black, ``o`` white. A diagram lies in the middle of a board of 15x15, its
corner on row and column 3; one that begins with ``|`` lies at the left edge, its ``|`` being no cell.
"""

CORNER = 3

POSITIONS = [
    # Rows of five and more
    (True, "a row of six", "xxx*xx"),
    (True, "a row of seven", "xxx*xxx"),
    (True, "a row of six by a stone at its end", "xxxxx*"),
    (True, "a row of six, shut at both ends, is a row of six", "oxxx*xxo"),
    (False, "five in a row wins", "xx*xx"),
    (False, "five in a row, shut at both ends, wins", "oxxx*xo"),
    (False, "five in a row with another stone beyond a gap is just five", "x.xx*xx"),
    (
        False,
        "five goes before six: the column has five",
        """
        ...x...
        ...x...
        ...x...
        ...x...
        xxx*xx.
        """,
    ),
    (
        False,
        "five goes before two fours: the rows of four are the column and a diagonal",
        """
        x...x....
        .x..x....
        ..x.x....
        ...xx....
        .xxx*x...
        """,
    ),
    (
        False,
        "five goes before two threes",
        """
        ..x.x....
        ...xx....
        xxxx*....
        .........
        """,
    ),
    (
        True,
        "six goes on where there is no five: one line has six, the other four",
        "xxxxx*.\n.....x.\n.....x.\n.....x.",
    ),
    # Fours
    (False, "a straight four is one four", ".xxx*."),
    (False, "a four shut at one end", "oxxx*."),
    (False, "a row of four that is shut at both ends", "oxxx*o"),
    (
        True,
        "two fours, a row and a column",
        """
        ....o....
        ....x....
        ....x....
        ....x....
        oxxx*....
        """,
    ),
    (
        True,
        "two fours, both diagonals, one with a gap",
        """
        x.......x
        .x.....x.
        ......x..
        ...x.....
        ....*....
        """,
    ),
    (
        True,
        "two straight fours",
        """
        ....x....
        ....x....
        ....x....
        .xxx*....
        .........
        """,
    ),
    (True, "two fours in one row: x.xxx.x", "x.xx*.x"),
    (True, "two fours in one row: xx.xx.xx", "xx.x*.xx"),
    (True, "two fours in one row: xxx.x.xxx", "xxx.*.xxx"),
    (False, "one of the two cells of x.xxx.x is taken", "x.xx*ox"),
    (False, "x.xxx.x with another stone behind: that end would make six", "x.xx*.xx"),
    (
        False,
        "of two rows of four one is shut at both ends",
        """
        ....o....
        ....x....
        ....x....
        ....x....
        oxxx*....
        ....o....
        """,
    ),
    (
        False,
        "of two rows of four one could only become six",
        """
        ....x....
        ....x....
        .........
        oxxx*....
        ....x....
        ....x....
        """,
    ),
    (
        True,
        "three fours",
        """
        x...x....
        .x..x....
        ..x.x....
        .........
        .xxx*....
        """,
    ),
    (
        False,
        "a four and a three",
        """
        ....x....
        ....x....
        oxxx*....
        .........
        """,
    ),
    (
        True,
        "a four and two threes",
        """
        ..x.x....
        ...xx....
        oxxx*....
        .........
        .........
        """,
    ),
    (True, "two fours, one of them along the edge", "|o....\n|x....\n|x....\n|x....\n|*xxx.\n"),
    (False, "a row of four from the edge that is shut is none", "|.....\n|x....\n|x....\n|x....\n|*xxxo\n"),
    # Threes
    (False, "one three", "..xx*.."),
    (
        True,
        "two threes, a row and a column",
        """
        ....x....
        ....x....
        ..xx*....
        .........
        """,
    ),
    (
        True,
        "two threes, both diagonals",
        """
        ..x...x..
        ...x.x...
        ....*....
        .........
        """,
    ),
    (
        True,
        "two threes, with gaps",
        """
        ....x....
        .........
        ....x....
        .x.x*....
        .........
        """,
    ),
    (
        True,
        "two threes, the stone in their middles",
        """
        .........
        ....x....
        ...x*x...
        ....x....
        .........
        """,
    ),
    (
        True,
        "three threes",
        """
        ..x.x....
        ...xx....
        ..xx*....
        .........
        .........
        """,
    ),
    (
        False,
        "of two rows of three one is shut at one end",
        """
        ....x....
        ....x....
        .oxx*....
        .........
        """,
    ),
    (
        False,
        "of two rows of three one has room for five, but not for a straight four",
        """
        .....x....
        .....x....
        .o.xx*.o..
        ..........
        """,
    ),
    (
        True,
        "white stones two cells off at one side leave a three",
        """
        .....x....
        .....x....
        .o.xx*....
        ..........
        """,
    ),
    (
        False,
        "a row of three that every straight four would leave with six at one end",
        """
        ......x.....
        ......x.....
        .x..xx*..x..
        ............
        """,
    ),
    (
        True,
        "a straight four is left on one side, though six threatens on the other",
        """
        ......x.....
        ......x.....
        .x..xx*.....
        ............
        """,
    ),
    (False, "a row of three from the edge on is none", "|..x...\n|..x...\n|xx*...\n|......\n"),
    (True, "one cell to the edge is enough on the other side's account", "|...x..\n|...x..\n|.xx*..\n|......\n"),
    (
        False,
        "the other three is there already and has nothing to do with the stone",
        """
        .........
        ..xx*....
        .........
        .........
        ......xxx
        """,
    ),
    # Threes that depend on what could follow
    (
        False,
        "the row is none: a straight four would make a column of six on either side",
        """
        ...x...x.
        ...x..xx.
        ...x..xx.
        ....xx*..
        ...x...x.
        ...x...x.
        """,
    ),
    (
        False,
        "the row is none: a straight four would make another four on either side",
        """
        ...o...o.
        ...x...x.
        ...x..xx.
        ...x..xx.
        ....xx*..
        .........
        """,
    ),
    (
        True,
        "the row is a three: on one side the straight four is allowed",
        """
        .......o.
        .......x.
        ......xx.
        ......xx.
        ....xx*..
        .........
        """,
    ),
    (
        False,
        "the row is none: on either side what would be a straight four makes five in a column",
        """
        ...x...x.
        ...x...x.
        ...x..xx.
        ...x..xx.
        ....xx*..
        .........
        """,
    ),
    (
        False,
        "the column is none: its straight four, below the row of two, would make two threes, a row and a diagonal",
        """
        ......x..
        ...x.*...
        ....xx...
        ....x.x..
        .....x...
        """,
    ),
    (
        False,
        "of a column and a diagonal of three one is none: its straight four would make two threes",
        """
        ...x.x...
        ...*.x...
        ....x....
        ...xx....
        ......x..
        """,
    ),
    (
        True,
        "the diagonal is a three: its straight four makes a column of three, but no row of three, for that one's own "
        "straight four would make two threes",
        """
        .x...x...
        ..xx..xx.
        ....x.x..
        ...x*x...
        .........
        """,
    ),
]


def read(diagram):
    """(cells by (row, column), the cell asked about) on a board of 15x15."""
    rows = [row.strip() for row in diagram.split("\n") if row.strip()]
    edge = rows[0].startswith("|")
    rows = [row.removeprefix("|") for row in rows]
    cells, at = {(r, c): "." for r in range(15) for c in range(15)}, None
    for r, row in enumerate(rows):
        for c, letter in enumerate(row):
            cell = (r + CORNER, c + (0 if edge else CORNER))
            if letter == "*":
                at = cell
            else:
                cells[cell] = letter
    return cells, at
