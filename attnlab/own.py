"""Load one's own `attention.py`, the module that `attnlab export` makes of the four labs."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

LEVELS = 2  # folders above the working folder that are looked into


def load(path: str | Path = "attention.py") -> ModuleType:
    """Import a module from a file: the nearest one, in the working folder or up to two above.

    Parameters
    ----------
    path : the file; only a relative one is looked for in the folders above

    Returns
    -------
    the module, imported anew: a file that has changed since is read again

    Raises
    ------
    FileNotFoundError : when there is none; its text says how to make it
    """
    here = Path.cwd()
    places = [folder / path for folder in (here, *here.parents[:LEVELS])]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise FileNotFoundError(
            f"There is no {path} yet. To make one from your four labs, run `attnlab export` in a "
            "terminal, in the folder that holds them."
        )
    name = file.stem
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file: its name does not end in .py.")
    module = module_from_spec(spec)
    # Compiled here, not by the loader, which may find a compiled file of the version before.
    code = compile(file.read_bytes(), str(file), "exec")
    before = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses and pickle look for it there
    try:
        exec(code, module.__dict__)
    except BaseException:
        sys.modules.pop(name)
        if before is not None:
            sys.modules[name] = before
        raise
    return module
