"""The joseki library: corner patterns of Go, the moves played in them, and recommendations.

After Yue, Li and Qiu (2007): states are corner patterns, independent of the order of moves; transitions are moves.
"""
