"""UCI for the Amazons, after the Universal Chess Interface (Meyer-Kahlen and Huber, 2000): a player on two streams.

`commands` reads ``position`` and ``go``, `session` answers on two streams.
"""
