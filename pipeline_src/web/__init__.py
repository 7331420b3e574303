"""The pages in the browser: a server on loopback, and ES modules that it serves unchanged.

`server` runs it; `app` refuses requests of other web pages, serves the files of the pages and answers their requests.
Each page has a module of routes here (`play`, `joseki`, ...), its messages in `messages` or there and its code for the
browser in ``static/pages``. Searches and nets run in the processes of `engine`.
"""
