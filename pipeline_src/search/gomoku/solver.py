"""`solve`: a forced win of a position with its line, or that none was found."""

import time
from typing import NamedTuple

import numpy as np

from pipeline_src.games.gomoku import moves
from pipeline_src.games.gomoku.board import BLACK, SIDE, STANDING, GOING, GomokuState, copy_state
from pipeline_src.search.gomoku import threats
from pipeline_src.search.gomoku.lines import Lines, action_of, cell_of, lift, make_lines, place
from pipeline_src.search.gomoku.patterns import ONE_FOUR, ONE_THREE, SURE, WINS
from pipeline_src.search.limits import Limit, StopFlag
