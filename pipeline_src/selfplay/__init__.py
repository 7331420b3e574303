"""Learning a game by self-play: games, replay window, training and generations, for any game."""
