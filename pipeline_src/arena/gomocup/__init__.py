"""The protocol of the Gomocup (Piskvork's, by Petr Lastovicka): a player of Gomoku on two streams.

`settings` reads ``INFO``, `position` holds the board, `time` says how long to think, `session` answers.
"""
