"""The one reader and writer of YAML: version 1.2 as DVC reads and writes it, with PyYAML as the parser.

PyYAML follows version 1.1, in which ``1e-05`` is text, ``010`` is 8, ``no`` is False and ``12:30`` is 750. Here
numbers, ``true``, ``false`` and ``null`` are those of the core schema of YAML 1.2 (https://yaml.org/spec/1.2.2, 10.3),
with underscores in numbers and binary numbers as DVC has them, and everything else is text. A key of a mapping is the
text that stands there, quoted or not: ``1.10`` and ``1.1`` are two names.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from pipeline_src.errors import ZugwerkError

_TAG = "tag:yaml.org,2002:"
_RESOLVERS = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
    ("int", r"[-+]?(?:[0-9][0-9_]*|0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?", "-+0123456789."),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+."),
)
_CONFLICT = re.compile(r"^(?:[<>|]{7} .*|={7})$", re.MULTILINE)
_OTHER_VERSION = re.compile(r"\A\ufeff?%YAML +(?!1\.2\b)(\S+)")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the C one is ten times as fast
    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as PyYAML has it


class _Dumper(yaml.SafeDumper):
    """Quotes the texts that YAML 1.1 or 1.2 would read as something else."""


for _name, _pattern, _first in _RESOLVERS:
    for _kind in (_Loader, _Dumper):
        _kind.add_implicit_resolver(_TAG + _name, re.compile(f"(?:{_pattern})$"), list(_first))


def _int(_: Any, node: yaml.ScalarNode) -> int:
    digits = node.value.replace("_", "")
    return int(digits, 0 if re.match("[-+]?0[box]", digits) else 10)


def _float(_: Any, node: yaml.ScalarNode) -> float:
    return float(re.sub(r"^([-+]?)\.(inf|nan)$", r"\1\2", node.value.replace("_", "").lower()))


_Loader.add_constructor(f"{_TAG}int", _int)
_Loader.add_constructor(f"{_TAG}float", _float)


def text_of(path: Path | str) -> str:
    """Return the text of a YAML file.

    Raises:
        OSError: it cannot be read.
        ZugwerkError: it is no UTF-8.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ZugwerkError(f"{path}: not valid YAML: {error}") from None


def parse(text: str, source: Path | str = "YAML") -> Any:
    """Return what a YAML text holds: dicts with texts as keys, lists, and values.

    Raises:
        ZugwerkError: it has the markers of a merge conflict, is not YAML 1.2, or has a key twice; the message names
            ``source``.
    """
    refuse_conflict(text, source)
    if other := _OTHER_VERSION.match(text):
        raise ZugwerkError(f"{source}: YAML {other[1]}; this reads YAML 1.2, as DVC does: leave the line %YAML out")
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        for one in _nodes(node):
            if isinstance(one, yaml.MappingNode):
                one.value = list(_texts_as_keys(one))
        return loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # endless numbers are ValueErrors
        raise ZugwerkError(f"{source}: not valid YAML: {' '.join(str(error).split())}") from None


def dump(tree: Any, **options: Any) -> str:
    """Return a tree as YAML text that every reader takes for the same; the options are those of PyYAML's ``dump``."""
    text: str = yaml.dump(tree, Dumper=_Dumper, **{"sort_keys": False, **options})
    return text


def refuse_conflict(text: str, source: Path | str) -> None:
    """Refuse a text that git has left with both sides of a merge.

    Raises:
        ZugwerkError: it has the markers of a merge conflict; the message names the line of the first.
    """
    if found := _CONFLICT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ZugwerkError(
            f"{source}: line {line} has the marker of a merge conflict; keep one side of each, then run this again"
        )


def _nodes(first: yaml.Node) -> Iterator[yaml.Node]:
    """All nodes of a document; one that an alias repeats comes once."""
    seen, todo = {id(first)}, [first]
    while todo:
        node = todo.pop()
        yield node
        inner = node.value if isinstance(node, yaml.CollectionNode) else ()
        for one in inner:
            for child in one if isinstance(one, tuple) else (one,):
                if id(child) not in seen:
                    seen.add(id(child))
                    todo.append(child)


def _texts_as_keys(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """The pairs of a mapping; YAML's other readers drop one of two with the same key."""
    seen = set[str]()
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key is no text", key.start_mark)
        if key.value in seen:
            raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} occurs twice", key.start_mark)
        seen.add(key.value)
        tag = key.tag if key.tag == f"{_TAG}merge" else f"{_TAG}str"
        yield yaml.ScalarNode(tag, key.value, key.start_mark, key.end_mark, key.style), value
