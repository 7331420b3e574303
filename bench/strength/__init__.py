"""Playing strength: matches on the clock, whose figures are committed in docs/measured/."""
