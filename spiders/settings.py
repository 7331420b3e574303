"""Scrapy settings: polite ones, and those that the params decide."""

from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from pipeline_src import __version__
from pipeline_src.errors import ZugwerkError
from pipeline_src.records.crawl_params import CrawlParams

BOT_NAME = "zugwerk"
SPIDER_MODULES = ["spiders.littlegolem"]
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = BOT_NAME
CONCURRENT_REQUESTS = 1
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_DELAY_JITTER = 0  # would make half of the delays shorter
COOKIES_ENABLED = False
REFERER_ENABLED = False
METAREFRESH_ENABLED = False
REDIRECT_MAX_TIMES = 5
TELNETCONSOLE_ENABLED = False
MEMUSAGE_ENABLED = False
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "spiders.retrying.BackoffRetryMiddleware": 550,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "spiders.manners.Manners": 610,  # nearest to the site, so that it sees each answer when it comes
}
LOG_LEVEL = "INFO"

LOOPBACK_BACKOFF_S = 0.02


def is_loopback(url: str) -> bool:
    """Whether a URL's host is this machine, by its name or number alone; nothing is looked up."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def manners(params: CrawlParams, base_url: str, api_url: str) -> dict[str, Any]:
    """The settings that depend on the params, and on whether a foreign host is crawled.

    Raises:
        ZugwerkError: a foreign host, and no contact to give it.
    """
    settings: dict[str, Any] = {
        "USER_AGENT": f"{BOT_NAME}/{__version__} (+{params.contact or 'loopback only'})",
        "DOWNLOAD_TIMEOUT": params.timeout_s,
        "RETRY_TIMES": params.retries,
    }
    if is_loopback(base_url) and is_loopback(api_url):
        return settings | {"RETRY_BACKOFF_S": LOOPBACK_BACKOFF_S, "HTTPPROXY_ENABLED": False}
    if not params.contact.strip():
        raise ZugwerkError(
            "params.yaml: crawl.contact is empty; set a mail address or page by which the site can reach you before "
            f"you crawl {base_url}"
        )
    return settings | {
        "DOWNLOAD_DELAY": params.delay_s,
        "RETRY_BACKOFF_S": params.backoff_s,
    }
