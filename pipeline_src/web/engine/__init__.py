"""Players think in processes of their own, so that a stuck one can be killed and the server stays responsive.

`tasks` is what the two sides say to each other, `child` the process, `pool` the server's side of it.
"""
