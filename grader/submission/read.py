"""Find and read the notebook of a hand-in, however it was saved, or say why it cannot be read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from grader.submission.code import LONGEST, bindings
from grader.submission.mend import mend
from grader.submission.roles import grade_id

LARGEST = 50 * 2**20  # bytes
MOST_CELLS, MOST_CODE = 2_000, 2_000_000  # cells, and characters in them; a lab has 60 to 90
MOST = 40  # files of a hand-in that are looked into
IGNORED = (".ipynb_checkpoints", "__MACOSX")
FEW = 0.25  # of a lab's cells; with fewer, and another lab's title, it is the other lab

ASK = "Please ask for the notebook itself, the .ipynb file, once more."


class Unreadable(Exception):
    """Why a hand-in cannot be read, in words for the instructor, with what to do."""


def find(folder: Path, released: NotebookNode, stem: str) -> tuple[Path, list[str]]:
    """Find the file of a hand-in that is the lab's notebook.

    The exact name wins. Otherwise the notebook is known by its content, in whatever file it
    stands; links that lead out of the folder are not followed.

    Parameters
    ----------
    folder : what one student handed in for one lab
    released : the lab as students got it
    stem : the lab's name, such as "lab00_qkv"

    Returns
    -------
    the file, and a sentence when it is not the one that was asked for

    Raises
    ------
    Unreadable : when there is none, with what there is instead
    """
    exact = folder / f"{stem}.ipynb"
    files = sorted(_files(folder), key=lambda file: file != exact)
    reasons: dict[Path, Unreadable] = {}
    readable = []
    for file in [file for file in files if file == exact or _may_be_notebook(file)][:MOST]:
        try:
            notebook, _ = read(file)
            cells = _belongs(notebook, released, file)
        except Unreadable as error:
            reasons[file] = error
            continue
        if file == exact:
            return file, []
        if cells:
            readable.append((cells, _time(file), str(file), file))
    if not readable:
        if exact in reasons or len(reasons) == 1:
            raise reasons.get(exact) or next(iter(reasons.values()))
        raise Unreadable(_nothing(folder, files, stem, list(reasons)))
    *others, (*_, file) = sorted(readable)
    note = f"The notebook was found in the file `{_short(file, folder)}`, not `{exact.name}`."
    if exact in reasons:
        why = str(reasons[exact]).partition(" Please ")[0]
        note = f"{why} Marked instead: the file `{_short(file, folder)}`."
    elif others:
        named = ", ".join(f"`{_short(other, folder)}`" for *_, other in others)
        note += f" It has most of the lab's cells, or is the newest; not used: {named}."
    return file, [note]


def read(path: Path) -> tuple[NotebookNode, list[str]]:
    """Read a notebook leniently; the file is left as it is.

    Returns
    -------
    a valid notebook of nbformat 4.5 without outputs, and a sentence on each thing mended

    Raises
    ------
    Unreadable : when no notebook can be made of it
    """
    name = path.name
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise Unreadable(
                f"`{name}` is larger than {LARGEST // 2**20} MB. Please ask for it once more, "
                "saved after Kernel › Restart Kernel and Clear Outputs."
            )
        raw = path.read_bytes()
    except OSError as error:
        raise Unreadable(f"`{name}` cannot be opened ({error.strerror}). {ASK}") from error
    text, notes = _decode(raw, name)
    data = _load(text, name)
    major = data.get("nbformat")
    if isinstance(major, (int, float)) and major >= 5:
        raise Unreadable(
            f"`{name}` is in notebook format {str(major)[:8]}, which is newer than this course "
            "reads. Please ask for it once more, saved from the JupyterLab of the course."
        )
    notebook, mended = mend(data)
    if not notebook.cells:
        raise Unreadable(f"`{name}` is a notebook without any cells. {ASK}")
    code = sum(len(cell.source) for cell in notebook.cells if len(cell.source) <= LONGEST)
    if len(notebook.cells) > MOST_CELLS or code > MOST_CODE:
        raise Unreadable(
            f"`{name}` holds {len(notebook.cells)} cells with {code} characters, more than can be "
            "looked through. Please ask for it once more, with the lab's cells and the student's."
        )
    return notebook, notes + mended


def _decode(raw: bytes, name: str) -> tuple[str, list[str]]:
    """Turn a file's bytes into text."""
    if not raw.strip(b"\0 \t\r\n"):
        raise Unreadable(f"`{name}` is empty ({len(raw)} bytes). {ASK}")
    if kind := _binary(raw):
        raise Unreadable(f"`{name}` is {kind}, whatever its name says. {ASK}")
    wide = next((c for c, marks in _WIDE.items() if raw.startswith(marks)), None)
    if wide:
        try:
            return raw.decode(wide), [f"The file was saved as {wide.upper()}; it was read as that."]
        except UnicodeDecodeError as error:
            raise Unreadable(f"`{name}` is cut off in the middle of a character. {ASK}") from error
    if raw.startswith(b"\xef\xbb\xbf"):
        notes = ["The file began with a byte order mark (BOM); it was left out."]
        return raw[3:].decode("utf-8", "replace"), notes
    try:
        return raw.decode("utf-8"), []
    except UnicodeDecodeError:
        notes = ["The file was not saved as UTF-8; it was read as Windows text (cp1252)."]
        return raw.decode("cp1252", "replace"), notes


_WIDE = {
    "utf-32": (b"\xff\xfe\0\0", b"\0\0\xfe\xff"),
    "utf-16": (b"\xff\xfe", b"\xfe\xff"),
    "utf-16-le": (b"{\0",),  # without a mark: a notebook begins with a brace
    "utf-16-be": (b"\0{",),
}


def _binary(raw: bytes) -> str:
    """Name a kind of file by its first bytes; empty when it may be text."""
    kinds = {
        b"PK\x03\x04": "a zip archive (or a file of Word or the like)",
        b"%PDF": "a PDF",
        b"\x1f\x8b": "a gzip archive",
        b"Rar!": "a RAR archive",
        b"7z\xbc\xaf": "a 7z archive",
        b"\x89PNG": "a picture",
        b"\xff\xd8\xff": "a picture",
    }
    return next((kind for start, kind in kinds.items() if raw.startswith(start)), "")


def _load(text: str, name: str) -> dict[str, Any]:
    """Read a notebook's JSON, or say what the file is instead."""
    try:
        data = json.loads(text, strict=False)
    except RecursionError as error:
        raise Unreadable(f"`{name}` is nested too deeply for a notebook. {ASK}") from error
    except ValueError as error:
        raise Unreadable(_why_not_json(text, name)) from error
    if not isinstance(data, dict) or not any(
        isinstance(data.get(key), list) for key in ("cells", "worksheets")
    ):
        raise Unreadable(f"`{name}` is JSON, but no notebook: it has no list of cells. {ASK}")
    return data


def _why_not_json(text: str, name: str) -> str:
    start = text.lstrip()[:200].lower()
    if re.search(r"^<{7} ", text, re.MULTILINE) or re.search(r"^>{7} ", text, re.MULTILINE):
        return (
            f"`{name}` holds marks of a merge that git could not finish (<<<<<<<). Please ask "
            "the student to choose one side and to hand it in once more."
        )
    if start.startswith(("<!doctype html", "<html", "<?xml", "<head", "<!--")):
        return f"`{name}` is a web page, often a log-in page saved in the notebook's place. {ASK}"
    if start.startswith(("{", "[")):
        return f"`{name}` is cut off or damaged: its JSON does not hold together. {ASK}"
    return f"`{name}` is text, but no notebook. {ASK}"


def _files(folder: Path) -> Iterator[Path]:
    """Go through the files of a hand-in; nothing outside of it."""
    inside = folder.resolve()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in IGNORED)
        for name in sorted(names):
            file = Path(place) / name
            try:
                ours = not name.startswith("._") and file.resolve().is_relative_to(inside)
                if ours and file.is_file():
                    yield file
            except (OSError, RuntimeError):  # a link that leads to itself
                continue


def _may_be_notebook(file: Path) -> bool:
    name = file.name.lower()
    return ".ipynb" in name or name.endswith(".json")


def _belongs(notebook: NotebookNode, released: NotebookNode, file: Path) -> int:
    """Count the cells of the release that a notebook holds, by role or by text.

    Raises
    ------
    Unreadable : when it is another lab's notebook, or nothing of this lab stands in it
    """
    names = {grade_id(cell) for cell in notebook.cells}
    texts = {cell.source.strip() for cell in notebook.cells}
    ours = [cell for cell in released.cells if grade_id(cell)]
    # Labs number their given cells alike, so these say nothing of which lab it is.
    telling = {grade_id(cell) for cell in ours if not grade_id(cell).startswith("given_")}
    count = sum(
        grade_id(cell) in names & telling or cell.source.strip() in texts for cell in released.cells
    )
    other, this = _origin(notebook), _origin(released)
    title_differs = _title(notebook) not in ("", _title(released))
    if count < FEW * len(released.cells) and ((other and other != this) or title_differs):
        raise Unreadable(
            f"`{file.name}` is the notebook of another lab: {other or _title(notebook)}. "
            "Please ask for this lab's."
        )
    if count:
        return count
    defined = {name for cell in notebook.cells for name in bindings(cell.source)}
    if found := len(telling & defined):
        return found
    raise Unreadable(f"`{file.name}` is a notebook, but holds no cell of this lab. {ASK}")


def _origin(notebook: NotebookNode) -> str:
    """Read from which lab's text a notebook was made; empty when it does not say."""
    found = re.match(r"course/(\w+)\.py", notebook.metadata.get("made_from", ""))
    return found[1] if found else ""


def _title(notebook: NotebookNode) -> str:
    """Read a lab's title from a notebook; empty when none stands in it."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (found := re.match(r"# (Lab \d.*)", cell.source)):
            return str(found[1]).strip()
    return ""


def _nothing(folder: Path, files: list[Path], stem: str, tried: list[Path]) -> str:
    """Say what lies in a hand-in that has no notebook of the lab."""
    if (folder / f"{stem}.ipynb").is_symlink():
        return f"`{stem}.ipynb` is a link that leads out of the hand-in, or to nothing. {ASK}"
    names = [f"`{_short(file, folder)}`" for file in (tried or files)]
    if not names:
        return f"The hand-in holds no file. {ASK}"
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    what = f"the files {', '.join(names[:5])}" if len(names) > 1 else f"the file {names[0]}"
    return f"The hand-in holds {what}{more}, but no notebook of `{stem}`. {ASK}"


def _short(file: Path, folder: Path) -> str:
    name = file.relative_to(folder).as_posix()
    return name.encode("utf-8", "replace").decode("utf-8")


def _time(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
