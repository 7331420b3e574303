"""The pages in the browser: a server on loopback, and ES modules that it serves as they are.

`server` runs it, `guard` refuses what other web pages send, `late` serves the files of the pages, `app` what they ask
for. Each page has a module of routes here (`play`, `joseki`, ...), its messages in `messages` and its part in the
browser in ``static/pages``; what thinks for them runs in the processes of `engine`.
"""
