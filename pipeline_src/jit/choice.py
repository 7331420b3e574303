"""Functions whose kernel is picked by the type of their first argument, in compiled code."""

from collections.abc import Callable, Collection, Iterator
from typing import Any

from numba.core import types
from numba.core.typing import templates

from pipeline_src.jit.parts import Kernel, Part

_CHOICES: dict[Any, dict[type, Part]] = {}


def choose(function: Callable[..., Any], first: type, kernel: Any) -> None:
    """Make calls of ``function`` in compiled code run ``kernel`` where the first argument is a NamedTuple of a type.

    Args:
        function: any; compiled code does not call it.
        first: the NamedTuple's class.
        kernel: made by `njit`; where compilation is switched off, nothing happens.
    """
    if not isinstance(kernel, Kernel):
        return
    if function not in _CHOICES:
        _CHOICES[function] = {}
        template = type(f"Choice_{function.__name__}", (_Choice,), {"key": function, "parts": _CHOICES[function]})
        templates.infer_global(function, types.Function(template))
    _CHOICES[function][first] = kernel.part


def choices() -> int:
    """Return the number of kernels that can be picked so far."""
    return sum(map(len, _CHOICES.values()))


def chosen_in(modules: Collection[str], firsts: Collection[type]) -> Iterator[str]:
    """Modules of the kernels that functions of some modules run for states of some classes."""
    for function, parts in _CHOICES.items():
        if function.__module__ in modules:
            yield from (parts[first].py_func.__module__ for first in firsts if first in parts)


class _Choice(templates.AbstractTemplate):
    parts: dict[type, Part]

    def generic(self, args: Any, kws: Any) -> Any:
        part = self.parts.get(getattr(args[0], "instance_class", type(None))) if args else None
        return None if part is None else types.Dispatcher(part).get_call_type(self.context, args, kws)

    def get_impl_key(self, signature: Any) -> Any:
        return self.parts[signature.args[0].instance_class].get_overload(signature)
