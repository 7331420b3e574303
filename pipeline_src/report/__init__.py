"""The headline figures of all systems in one place, and the profiles they are made at."""
