"""Players think in processes of their own, so that a stuck one can be killed and the server stays responsive.

`tasks` has the messages of both sides, `child` is the process, and `pool` the server's side.
"""
