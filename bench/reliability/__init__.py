"""Kills, faults, hostile input, long runs: what has to hold however the product is used."""
