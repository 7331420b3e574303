"""Scrapy: find a site's games and keep what it sends, untouched; parsing is in `pipeline_src.records`."""
