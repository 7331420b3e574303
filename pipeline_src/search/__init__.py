"""Searches that know no game, and the evaluators they ask. No torch here."""
