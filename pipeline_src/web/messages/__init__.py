"""What the server and a page say to each other, as models: a module a page.

docs/reference/web.md is written from them.
"""
