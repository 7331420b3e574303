"""Scrapy's commands in this project, and the settings module of scrapy.cfg."""

from spiders.settings import *  # noqa: F403

COMMANDS_MODULE = __name__
