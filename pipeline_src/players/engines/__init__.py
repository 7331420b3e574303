"""Engines of other programs as players: the UCI and the Gomocup protocol, each over the pipes of a process."""
