"""`Message`, the base of all."""

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """Immutable, no other keys than its fields, no NaN; the docstrings of the fields are their descriptions."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


class Failure(Message):
    """The body of every answer whose status is not 2xx."""

    error: str
    """What is wrong, and what to do, for a person to read."""
