"""A convolutional net that chooses the search depth of the Amazons engine (Li, Gao 2022)."""
