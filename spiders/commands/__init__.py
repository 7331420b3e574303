"""Scrapy's commands in this project, and the settings that scrapy.cfg names: those of a crawl, and where these are."""

from spiders.settings import *  # noqa: F403

COMMANDS_MODULE = __name__
