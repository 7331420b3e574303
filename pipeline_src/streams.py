"""Names of the pipeline's random streams.

Every generator is seeded by a list of integers: the pipeline's seed, the stream's number, and the purpose within it
(a game's number, a step, an epoch). Two streams never share numbers, and a stream keeps its number for good: another
one would change every result that is drawn from it.
"""

AMAZONS_ARCHIVE = 1
SPLIT = 2
AMAZONS_MATCH = 4
TRAINING = 5
JOSEKI_MADE = 7
REPLAY_WINDOW = 8
SELF_PLAY = 11
GATE = 12
FIRST_NET = 13
GOMOKU_EVALUATE = 14
GROWN_NET = 15
GROWING_EVALUATE = 16
DEPTH_LABEL = 20
DEPTH_TRAINING = 21
DEPTH_MATCH = 23
REPORT_POSITIONS = 30
CALIBRATION = 31
AMAZONS_ZERO_EVALUATE = 32

# Within TRAINING, the next number is the purpose.
TRAINING_ORDER, TRAINING_SYMMETRY, TRAINING_WEIGHTS, TRAINING_DROPOUT = 0, 1, 2, 3

# Within DEPTH_TRAINING.
DEPTH_UNDERSAMPLE, DEPTH_OVERSAMPLE = 0, 1
DEPTH_ORDER, DEPTH_SYMMETRY, DEPTH_WEIGHTS = 10, 11, 20
