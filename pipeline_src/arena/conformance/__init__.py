"""Conformance checks of engines that speak UCI or the Gomocup protocol.

The engine is restarted for each check, so that no fault hides another. `examiner` has the checks of both protocols,
`uci` and `brain` those of one, `examine` runs them.
"""
