"""Scrapy settings: polite defaults for all of `scrapy` in this project, and those from the params."""

from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.crawl_params import CrawlParams
from spiders.manners import NOBODY, ROBOT, is_loopback, user_agent

BOT_NAME = ROBOT
SPIDER_MODULES = ["spiders.littlegolem"]
USER_AGENT = NOBODY
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = BOT_NAME
CONCURRENT_REQUESTS = 1
DOWNLOAD_DELAY = 1.0
RETRY_BACKOFF_S = 1.0
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_DELAY_JITTER = 0  # would make half of the delays shorter
COOKIES_ENABLED = False
REFERER_ENABLED = False
DEFAULT_REQUEST_HEADERS = {"Accept-Encoding": "gzip"}  # the one whose end `MarkCutOff` checks
METAREFRESH_ENABLED = False
REDIRECT_MAX_TIMES = 5
TELNETCONSOLE_ENABLED = False
MEMUSAGE_ENABLED = False
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "spiders.retrying.BackoffRetryMiddleware": 550,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "spiders.whole.FollowSamePage": 600,
    "spiders.whole.MarkCutOff": 605,  # before HttpCompressionMiddleware, which is at 590
    "spiders.manners.Manners": 610,  # nearest to the site, so that it sees each answer first
}
LOG_LEVEL = "INFO"

LOOPBACK_BACKOFF_S = 0.02


def manners(params: CrawlParams, base_url: str, api_url: str) -> dict[str, Any]:
    """The settings that depend on the params, and on whether a foreign host is crawled.

    Raises:
        ZugwerkError: a foreign host, and no contact.
    """
    settings: dict[str, Any] = {
        "USER_AGENT": user_agent(params.contact) if params.contact else NOBODY,
        "DOWNLOAD_TIMEOUT": params.timeout_s,
        "RETRY_TIMES": params.retries,
    }
    if is_loopback(base_url) and is_loopback(api_url):
        return settings | {"DOWNLOAD_DELAY": 0.0, "RETRY_BACKOFF_S": LOOPBACK_BACKOFF_S, "HTTPPROXY_ENABLED": False}
    if not params.contact.strip():
        raise ZugwerkError(
            "params.yaml: crawl.contact is empty; set a mail address or page by which the site can reach you before "
            f"you crawl {base_url}"
        )
    return settings | {
        "DOWNLOAD_DELAY": params.delay_s,
        "RETRY_BACKOFF_S": params.backoff_s,
    }
