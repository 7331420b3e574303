"""Boards of the report: chosen positions, with the policies and values of each system's nets."""
