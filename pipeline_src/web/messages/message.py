"""`Message`, the base class of all messages."""

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """An immutable message without unknown keys and NaN. Docstrings of fields are their descriptions."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


class Failure(Message):
    """The body of every answer whose status is not 2xx."""

    error: str
    """The error, and what to do about it, in words."""
