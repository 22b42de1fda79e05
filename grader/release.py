"""Make `release/` with nbgrader's own generate_assignment, and search it for leaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import numpy as np

from attnlab.exercise import Case
from grader.catalogue import LABS, exercises
from grader.markers import BEGIN, END, Lab, read_lab
from grader.nbgrader_api import course
from grader.sheets import PUBLIC_SEED, sheet

# Words that only stand in what is kept back.
FORBIDDEN = (
    "BEGIN SOLUTION",
    "END SOLUTION",
    "HIDDEN TESTS",
    "grader.mark",
    "MARK SCHEME",
    "**Model answer.**",
    "**Rubric.**",
)
SHORT = 10  # characters of code; a shorter line gives nothing away


class ReleaseError(Exception):
    """Why a release was not made, or must not be handed out."""


def release(root: Path, labs: tuple[str, ...] = LABS) -> Iterator[Path]:
    """Release every lab and yield each notebook once it is made and found clean.

    Raises
    ------
    ReleaseError : when nbgrader could not make it, or it holds what students must not see
    """
    api = course(root)
    for stem in labs:
        if not (root / "source" / stem).exists():
            raise ReleaseError(f"source/{stem} is missing: run `python -m grader build` first")
        result = api.generate_assignment(stem, force=True, create=True)
        if not result["success"]:
            raise ReleaseError(f"nbgrader could not release {stem}:\n{result['log']}")
        found = list(leaks(root, read_lab(root / "course" / f"{stem}.py")))
        if found:
            raise ReleaseError(f"release/{stem} must not be handed out:\n" + "\n".join(found))
        yield root / "release" / stem / f"{stem}.ipynb"


def leaks(root: Path, lab: Lab) -> Iterator[str]:
    """Name everything in a lab's release that students must not see.

    Looked for are: files other than the notebook, markers of kept-back regions, lines of this
    lab's and of later labs' answers, and numbers of kept-back cases.
    """
    folder = root / "release" / lab.stem
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != f"{lab.stem}.ipynb":
            yield f"{path.name}: a file beside the notebook"
    text = (folder / f"{lab.stem}.ipynb").read_text(encoding="utf-8")
    for word in FORBIDDEN:
        if word in text:
            yield f"{word!r} stands in the notebook"
    lines = {
        line
        for cell in nbformat.reads(text, as_version=4).cells
        if cell.cell_type == "code"
        for line in code_lines(cell.source)
    }
    labs = [read_lab(path) for path in sorted((root / "course").glob("lab*.py"))]
    earlier = set().union(*(answer_lines(other) for other in labs if other.stem < lab.stem))
    for other in labs:
        if other.stem >= lab.stem:
            for line in sorted((answer_lines(other) - earlier) & lines):
                yield f"a line of an answer of {other.stem}: {line}"
    for number in sorted(kept_numbers(lab.stem)):
        if number in text:
            yield f"{number}, a number of a kept-back case"


def answer_lines(lab: Lab) -> set[str]:
    """List the lines of a lab's answers that are long enough to give something away."""
    regions = re.compile(rf"{BEGIN}[^\n]*\n(.*?){END}", flags=re.DOTALL)
    found: set[str] = set()
    for cell in lab.of_role("solution"):
        for region in regions.findall(cell.source):
            found |= {line for line in code_lines(region) if len(line) >= SHORT}
    return found


def code_lines(code: str) -> set[str]:
    """List lines of code without comments and with single blanks."""
    lines = (re.sub(r"(^|\s)#.*", "", line) for line in code.splitlines())
    return {" ".join(line.split()) for line in lines} - {""}


def kept_numbers(stem: str, seed: str = PUBLIC_SEED) -> set[str]:
    """Write out the numbers of a lab's kept-back inputs and results that cannot be chance."""
    return set().union(*kept_cases(stem, seed).values())


def kept_cases(stem: str, seed: str = PUBLIC_SEED) -> dict[str, set[str]]:
    """Write out those numbers for each kept-back case, cut to seven or eight digits."""
    found: dict[str, set[str]] = {}
    for exercise in exercises(stem):
        made = sheet(exercise.name, seed, with_mistakes=False)
        for case, key in zip(made.cases, made.keys, strict=True):
            if not case.visible:
                arrays = (*_arrays(case), *key.expected.values())
                numbers = (x for array in arrays for x in np.ravel(array).tolist())
                found[f"{exercise.name}: {case.name}"] = {
                    repr(x)[:10] for x in numbers if _telling(x)
                }
    return found


def _arrays(case: Case) -> list[np.ndarray]:
    return [value for value in case.inputs.values() if isinstance(value, np.ndarray)]


def _telling(x: object) -> bool:
    """Say whether a number has so many digits that it would not stand somewhere by chance."""
    return isinstance(x, float) and len(repr(x)) >= 12 and "e" not in repr(x)
