"""Measurements: speeds as ratios to a reference in the same run, strength, costs and reliability."""
