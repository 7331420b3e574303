"""Games that are played in the browser, kept by the server while it runs: `game` the rules, `session` who is at it."""
