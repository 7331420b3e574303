"""Rules only: numba kernels with a thin Python face; a board's size is the shape of its array."""
