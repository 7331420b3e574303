"""Messages between the server and the pages, as models; each page has a module.

`GET /api/openapi.json` describes them.
"""
