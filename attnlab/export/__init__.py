"""`attnlab export`: the answers of four labs as one module, `attention.py`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from attnlab.encode import visible_sheets
from attnlab.export.answers import Answers
from attnlab.export.clashes import Clash
from attnlab.export.labs import Lab, NoLab, find, read
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
    reasons = [*_why_not_there(to, force)]
    homes = {name: sheet.exercise.lab for name, sheet in visible_sheets().items()}
    labs: dict[str, Lab] = {}
    if not folder.is_dir():
        raise NotExported([f"{folder}: there is no such folder.", *reasons])
    for stem in dict.fromkeys(homes.values()):
        try:
            labs[stem] = read(find(folder, stem), folder, stem)
        except NoLab as reason:
            reasons.append(str(reason))
    answers = Answers(labs, homes)
    reasons += answers.problems
    if reasons:
        raise NotExported(reasons)
    try:
        module = assemble(answers.needed, [*labs.values()], homes)
        text = module.text.encode()
    except (Clash, UnicodeEncodeError) as reason:
        raise NotExported([str(reason)]) from reason
    reasons = problems_of(module)
    if reasons:
        raise NotExported(reasons)
    try:
        _write(to, text)
    except OSError as error:
        raise NotExported([f"{to} could not be written: {error.strerror}."]) from error
    return Exported(to, tuple(answers.names), tuple(answers.left_out), _notes(labs))


def _why_not_there(to: Path, force: bool) -> list[str]:
    """Say why a module must not be written to a place."""
    if to.suffix != ".py" or not to.stem.isidentifier():
        return [f"{to}: a module's file is called like `attention.py`; choose such a name."]
    if not to.parent.is_dir():
        return [f"{to.parent}: there is no such folder to write to."]
    if to.is_dir():
        return [f"{to} is a folder; choose another name."]
    if to.exists() and not force and MADE_BY not in to.read_text("utf-8", errors="replace"):
        return [
            f"{to} is there already and was not made by this command. Move it away, choose another "
            "name with --to, or replace it with --force."
        ]
    return []


def _write(to: Path, text: bytes) -> None:
    """Put the new file in the place of the old one in one step."""
    new = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        new.write_bytes(text)
        new.replace(to)
    finally:
        new.unlink(missing_ok=True)


def _notes(labs: Mapping[str, Lab]) -> tuple[str, ...]:
    return tuple(
        f"{lab.name}, cell {cell.cell} is not Python ({cell.reason}) and was passed over."
        for lab in labs.values()
        for cell in lab.broken
    )
