"""Players of Gomoku that need no net."""
