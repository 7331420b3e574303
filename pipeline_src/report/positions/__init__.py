"""Boards of the report: chosen positions, and what the nets of each system see in them."""
