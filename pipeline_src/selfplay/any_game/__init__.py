"""The learner for any game: `learn` from nothing by self-play, with the net of `search.grid_net`."""
