"""Scrapy spiders: find a site's games and keep its unchanged answers. Parsing is in `pipeline_src.records`."""
