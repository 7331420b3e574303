"""Game records: `GameRecord`, the one type for records of all games, and its readers and writers.

`read_records` and `write_records` handle archives (Parquet), `read_psq` and `write_psq` Piskvorky's Gomoku records,
`read_sgf` and `write_sgf` Go records; `littlegolem` reads the records of the site LittleGolem.

>>> from pipeline_src.records import GameRecord, write_psq
>>> game = GameRecord("gomoku", 1, "file", "freestyle", 15, 15, actions=(112, 97), winner=None)
>>> write_psq(game).splitlines()[:3]
['Piskvorky 15x15, 1:1, 0', '8,8,0', '8,7,0']
"""

from pipeline_src import exports

_MODULES = {
    "GameRecord": "record",
    "read_psq": "psq",
    "read_records": "record",
    "read_sgf": "go_games",
    "write_psq": "psq",
    "write_records": "record",
    "write_sgf": "go_games",
}
__all__ = list(_MODULES)
__getattr__ = exports(__name__, _MODULES)
