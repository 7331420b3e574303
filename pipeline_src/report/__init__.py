"""The headline figures of all systems, with their tables, charts and boards for the report."""
