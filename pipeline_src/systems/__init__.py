"""The five published systems, a folder each; they import the engine, and growing_boards imports gomoku_zero."""
