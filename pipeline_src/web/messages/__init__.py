"""Messages between the server and the pages, as models; each page has a module.

docs/reference/web.md is generated from them.
"""
