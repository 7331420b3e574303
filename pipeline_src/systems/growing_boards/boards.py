"""Boards of the report for growing boards."""

from pipeline_src.systems.gomoku_zero.boards import growing_boards as boards

__all__ = ["boards"]
