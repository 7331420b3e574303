"""Text <-> `GameRecord`: the one type of game record that all systems share."""
