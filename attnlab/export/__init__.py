"""`attnlab export`: the answers of four labs as one module, `attention.py`."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

from attnlab.encode import visible_sheets
from attnlab.export.answers import Answers
from attnlab.export.labs import Lab, NoLab, read
from attnlab.export.module import MADE_BY, assemble
from attnlab.export.trial import problems_of


class NotExported(Exception):
    """Why no module was written: `reasons`, one sentence each."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True)
class Exported:
    """What was written: the file, the names in it, the experiments left out and why, notes."""

    path: Path
    names: tuple[str, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]


def export(folder: Path, to: Path, force: bool = False) -> Exported:
    """Write the answers of the four labs, and what they lean on, into one module.

    Parameters
    ----------
    folder : where the labs are, or one level above
    to : the file to write
    force : whether to replace a file that was not made by this

    Raises
    ------
    NotExported : with all reasons; nothing is written then
    """
    if not folder.is_dir():
        raise NotExported([f"{folder}: there is no such folder."])
    reasons = _why_not_there(to, force)
    homes = {name: sheet.exercise.lab for name, sheet in visible_sheets().items()}
    labs: dict[str, Lab] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on what Python or nbformat finds odd in a lab
        for stem in dict.fromkeys(homes.values()):
            try:
                labs[stem] = read(folder, stem)
            except NoLab as reason:
                reasons.append(str(reason))
        answers = Answers(labs, homes)
        reasons += answers.problems
        if reasons:
            raise NotExported(reasons)
        text, origins = assemble([*labs.values()], answers.statements)
    for name, said, line in problems_of(text):
        where = f"{origins[line]}: " if line in origins else ""
        reasons.append(f"{where}{f'`{name}`' if name else 'importing the module'}: {said}.")
    if reasons:
        raise NotExported(reasons)
    _write(to, text)
    notes = [
        f"{lab.name}, cell {cell} is not Python ({why}) and was passed over."
        for lab in labs.values()
        for cell, why in lab.broken.items()
    ]
    return Exported(to, tuple(answers.names), tuple(answers.left_out), tuple(notes))


def _why_not_there(to: Path, force: bool) -> list[str]:
    """Say why a module must not be written to a place."""
    if to.suffix != ".py" or not to.stem.isidentifier():
        return [f"{to}: a module's file is called like `attention.py`; choose such a name."]
    if to.is_dir() or not to.parent.is_dir():
        return [f"{to}: no file can be written there; choose another name, or make its folder."]
    if to.exists() and not force and MADE_BY not in to.read_text("utf-8", errors="replace"):
        what = f"{to} is there already and was not made by this command"
        return [f"{what}. Move it away, choose another with --to, or replace it with --force."]
    return []


def _write(to: Path, text: str) -> None:
    """Put the new file in the place of the old one in one step."""
    new = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        new.write_text(text, encoding="utf-8", newline="\n")
        new.replace(to)
    except OSError as error:
        raise NotExported([f"{to} could not be written: {error.strerror}."]) from error
    finally:
        new.unlink(missing_ok=True)
