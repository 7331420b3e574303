"""Readers of LittleGolem's data: text records, JSON records, results and the pages that contain them."""
