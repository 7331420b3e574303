"""The commands of some DVC stages, one module each."""
