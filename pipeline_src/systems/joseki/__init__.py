"""The joseki library: corner patterns of Go, what was played in them, and what that suggests.

After Yue, Li and Qiu (2007): states are corner patterns whatever moves led there, transitions the next moves.
"""
