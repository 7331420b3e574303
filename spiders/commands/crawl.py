"""`scrapy crawl littlegolem -a system=amazons`: the same as `zugwerk crawl amazons`.

Scrapy's own command would end with status 0 if the site is down, wait for pending requests when it is interrupted, and
store nothing: `spiders.live` puts the games into the store.
"""

from argparse import Namespace

from scrapy.commands import crawl
from scrapy.exceptions import UsageError

from pipeline_src.errors import run_main
from spiders.live import crawl_system, crawled
from spiders.spider import LittleGolemSpider

SYSTEMS = crawled()


class Command(crawl.Command):
    """Crawls the site of params.yaml for a system, with the limits of its section ``crawl``."""

    requires_crawler_process = False  # `spiders.running` makes one

    def short_desc(self) -> str:
        """Line in the list of commands."""
        return f"Fetch games from the live site, as `zugwerk crawl`: -a system={'|'.join(SYSTEMS)}"

    def run(self, args: list[str], opts: Namespace) -> None:
        """Crawl.

        Raises:
            UsageError: no such spider or system, or an option that `zugwerk crawl` does not have.
        """
        if args != [LittleGolemSpider.name]:
            raise UsageError(f"name one spider: scrapy crawl {LittleGolemSpider.name} -a system={SYSTEMS[0]}")
        if opts.spargs.keys() != {"system"} or opts.spargs["system"] not in SYSTEMS:
            raise UsageError(f"give -a system={' or '.join(SYSTEMS)}, and no other argument")
        if opts.output or opts.overwrite_output or opts.set or opts.logfile or opts.loglevel or opts.nolog:
            raise UsageError(
                "-s, -o, -O and options of the log have no effect here: the limits are in section crawl of "
                "params.yaml, the games in artifacts/raw/SYSTEM/live, the log in work/SYSTEM_crawl"
            )
        run_main(lambda: crawl_system(opts.spargs["system"]))
