"""The Amazons for the searches: evaluation, mobility, floods of queen and king distance, endgames."""
