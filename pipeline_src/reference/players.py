"""The page of the players of every game with their options."""

from pipeline_src.players.listing import players
from pipeline_src.reference.tables import NOTE, code, table

INTRO = f"""# Players

{NOTE}

A player is a short text, `NAME[:VALUE][,key=value...]`, the same in params, on the command line and in matches:
`alphabeta:depth=3,width=20`. `zugwerk players GAME` prints what follows. How they play is in
[engine.md](../engine.md#players), [gomoku.md](../gomoku.md#players) and
[search depth](../how-it-works/search-depth.md#players).

"""


def players_page() -> str:
    """Return the page's text."""
    lines, game = INTRO.splitlines(), ""
    for one in players():
        lines += [f"## {one.game}", ""] if one.game != game else []
        game = one.game
        lines += [f"### {one.title}", "", one.meaning, "", "```text", one.example, "```", ""]
        rows = [
            (code(o.name) + (f", {code(o.also)}" if o.also else ""), o.type, code(o.default), o.meaning)
            for o in one.options
        ]
        lines += [*table(["option", "type", "default", "meaning"], rows), ""] if rows else []
    return "\n".join(lines).rstrip() + "\n"
