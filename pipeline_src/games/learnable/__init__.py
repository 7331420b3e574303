"""Games in one file each, as a user's own: `games.game.load_game` opens them, other commands do not know their names.

Each shows something else: falling stones (`connect_four`), flips and passes (`othello`), windows in three directions
(`hex`), moves from a cell to another (`breakthrough`), two stones a turn (`connect6`).
"""
