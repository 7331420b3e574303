"""What a position is worth without searching it, seen from the side to move."""
