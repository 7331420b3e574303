"""Messages between the server and the pages, as models; each page has a module.

`GET /api/openapi.json` describes them.
"""

from pipeline_src.described import Described

# `Message`, the base class of all messages.


class Message(Described):
    """A message between the server and its pages."""


class Failure(Message):
    """The body of every answer whose status is not 2xx."""

    error: str
    """The error, and what to do about it, in words."""
