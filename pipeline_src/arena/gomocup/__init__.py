"""The protocol of the Gomocup (Piskvork's, by Petr Lastovicka): a player of Gomoku on two streams.

`settings` reads ``INFO``, `position` holds the board, `swap2` lays the first stones, `session` answers;
`pipeline_src.players.turn_time` says how long to think.
"""
