"""The protocol of the Gomocup (Piskvork's, by Petr Lastovicka): a player of Gomoku on two streams.

`settings` reads ``INFO``, `position` holds the board, `swap2` plays the opening, `session` answers, `memory` looks at
what the process has taken; `pipeline_src.players.turn_time` says how long to think.
"""
