"""`Described`, the base of all pydantic models: params, options of players, messages of the pages."""

import threading
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

_ONE_AT_A_TIME = threading.RLock()


class _OneAtATime(ModelMetaclass):
    # Pydantic parses a class's source for the docstrings. Python 3.11 counts the parser's depth for all threads
    # (CPython issue 106905), so two at once end in "SystemError: AST constructor recursion depth mismatch".
    def __new__(cls, *args: Any, **options: Any) -> type:
        with _ONE_AT_A_TIME:
            return super().__new__(cls, *args, **options)


class Described(BaseModel, metaclass=_OneAtATime):
    """An immutable model without other keys than its fields and without NaN; fields' docstrings describe them."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)
