"""Scrapy's commands in this project, and the settings module of scrapy.cfg."""

from pathlib import Path
from typing import Any

from scrapy.contracts import Contract

from spiders.settings import *  # noqa: F403

COMMANDS_MODULE = __name__
SPIDER_CONTRACTS = {f"{__name__}.Page": 10}


class Page(Contract):
    """``@page NAME``: the callback gets the page of this name in tests/spiders/pages."""

    name = "page"

    def adjust_request_args(self, args: dict[str, Any]) -> dict[str, Any]:
        """Ask for the stored page, and for none of the site."""
        pages = Path(__file__).parents[2] / "tests/spiders/pages"
        return args | {"url": (pages / self.args[0]).as_uri()}
