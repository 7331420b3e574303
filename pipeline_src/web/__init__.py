"""The pages in the browser: a server on loopback, and ES modules that it serves as they are.

`app` puts the server together, `guard` refuses what other web pages send, `server` runs it. Each page has a module of
routes here (`play`, `joseki`, ...), its messages in `messages` and its part in the browser in ``static/pages``.
"""
