"""Players of the Amazons that need no net."""
