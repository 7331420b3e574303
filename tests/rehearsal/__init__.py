"""A rehearsal of a live crawl: ``python -m tests.rehearsal.rehearse`` (``make rehearse``).

The replica's server and pages stand for the live site; here it fails, renames players and grows as sites do. Games,
their records and what has to become of each are made here, by rules that are written down once more.
"""
