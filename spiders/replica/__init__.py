"""A replica of the site: serves an archive of games with the site's paths, pages and quirks, on loopback."""
