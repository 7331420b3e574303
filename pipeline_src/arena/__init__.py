"""Matches in colour-swapped pairs from an opening set, and scores with error bars."""
