"""Games in the browser, kept while the server runs: `game` has the rules, `session` people, players and clocks."""
