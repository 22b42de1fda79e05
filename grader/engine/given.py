"""Write down the right versions of earlier exercises as code that stands by itself.

They are sent to a hand-in's process once the exercises before have been recorded there, and the
rest of the reference must not come along.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, ModuleType
from typing import Any

from grader.sheets import given_for

OURS = "grader."


@cache
def given_code(name: str) -> tuple[str, tuple[str, ...]]:
    """Write the given versions of the exercises before one in its lab.

    Returns
    -------
    the code, and the names of the exercises it defines
    """
    given = given_for(name)
    parts: dict[str, tuple[Any, str]] = {}
    for right in given.values():
        _add(right, parts)
    code = ["from __future__ import annotations", *(text for _, text in parts.values())]
    return "\n\n".join(code), tuple(given)


def _add(item: Callable[..., Any], parts: dict[str, tuple[Any, str]]) -> None:
    """Add a function or class, and before it whatever it uses, each under its own name."""
    module = inspect.getmodule(item)
    for name in _names_in(item):
        if name == item.__name__ or not hasattr(module, name):
            continue
        value = getattr(module, name)
        if name in parts:
            if parts[name][0] is not value:
                raise RuntimeError(f"two things in the reference are called {name!r}: rename one")
        elif isinstance(value, ModuleType):
            parts[name] = (value, f"import {value.__name__} as {name}")
        elif getattr(value, "__module__", "").startswith(OURS):
            _add(value, parts)
        elif not callable(value):
            parts[name] = (value, f"{name} = {value!r}")
        else:
            parts[name] = (value, f"from {value.__module__} import {value.__name__} as {name}")
    parts[item.__name__] = (item, inspect.getsource(item))


def _names_in(item: Callable[..., Any]) -> Iterator[str]:
    """List the names that a function, or a class's methods, look up when they run."""
    is_class = isinstance(item, type)
    functions = filter(inspect.isfunction, vars(item).values()) if is_class else [item]
    codes: list[CodeType] = [function.__code__ for function in functions]
    while codes:
        code = codes.pop()
        yield from code.co_names
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
