"""Game records to arrays: what the nets learn from and what they see of a position."""
