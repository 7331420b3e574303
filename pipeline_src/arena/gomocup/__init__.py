"""The Gomocup protocol (of Piskvork, by Petr Lastovicka): a Gomoku player on two streams.

`settings` reads ``INFO``, `position` holds the board, `swap2` plays the opening, `session` answers, `memory` measures
the memory of the process; `pipeline_src.players.turn_time` manages the time.
"""
