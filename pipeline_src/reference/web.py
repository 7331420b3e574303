"""The page of the interface of `zugwerk web`. The server's OpenAPI has the routes and messages."""

from pipeline_src.reference.tables import NOTE
from pipeline_src.web.incoming import A_SECOND, BURST, FLOOD
from pipeline_src.web.play import BUSY, GONE, MOST_TABS, SLOW
from pipeline_src.web.settings import HOST, PORT

PAGE = f"""# The server of the pages

{NOTE}

`zugwerk web` listens at `http://{HOST}:{PORT}`; `--port` and `--host` change that. The pages use what follows, and so
can a client of your own: requests and answers are JSON. `GET /api/openapi.json` lists the routes and describes
requests, answers and the messages of the WebSockets field by field; any viewer of OpenAPI shows it. An answer whose
status is not 2xx is `{{"error": TEXT}}`: 400 and 422 for what is wrong with the request, 403 for a page of another
site, 404, 413 for a body that is too large, 503 where there is no room.

A request needs a `Host` that is the server's own, and no `Origin` but the server's; programs that are no browsers send
none. Files are named by their paths, below the folders that the server was given (`--folder`).

## The WebSocket of a game

`POST /api/play/games` begins a game; its WebSocket is `/api/play/games/ID/socket`. At once, and after each change, the
server sends the whole game (`GameMessage`) with the legal moves, where it is a person's turn. The client
sends what the person does (`Act`): `{{"do": "move", "move": "h8", "ply": 0}}`. An action that is not
possible is answered by a `Problem` and changes nothing; the game is sent once more, so that a client that has
drawn the move already can undo it. While a player thinks, `ThoughtMessage` reports its search, ten a
second at most.

A game may be open several times. Once nobody has it open, its player and its clock stop, and it is kept for a day: who
connects again finds it as it was.

| code of the close | why |
| --- | --- |
| 1008 | the client is a page of another site |
| {GONE} | there is no such game, any more |
| {BUSY} | it is open {MOST_TABS} times already |
| {FLOOD} | more than {BURST} messages at once, or {A_SECOND} a second |
| {SLOW} | the client does not read |

Moves are texts: `d1-d7/g7` (from, to, arrow), `h8`. A position text (`fen`) has the ranks from the top one down; the
[glossary](../glossary.md) says which letters. Times are milliseconds where the name ends in `_ms`.

## The WebSocket of an analysis

A client opens `/api/analyse/watch` and sends one message, an `AnalysisRequest`. The server answers
with what it has of that line by that player, then with each position as it is analysed: `PlyAnalysis`,
and after each the `AnalysisState`. After `done` or `failed` it closes the socket. A client that closes
it ends the analysis; the same request later continues it, as long as the server runs.

At `/api/analyse/think` a client sends a `ThinkRequest` for each position that it shows, and hears
`Thinking` messages until it sends the next one or closes the socket, which end the search.
"""


def web_page() -> str:
    """Return the page's text."""
    return PAGE
