"""Networks: torch alone, shapes rather than games."""
