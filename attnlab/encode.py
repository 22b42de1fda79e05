"""Write exercises, cases and keys as JSON, and read them back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from attnlab.exercise import Case, Exercise, Failure, Input, Key, Layer, Mistake, Rng

DIGITS = 8  # significant; tolerance is 2e-5, and the last bits of exp differ between machines


@dataclass(frozen=True)
class Sheet:
    """Everything needed to judge an exercise on some cases."""

    exercise: Exercise
    cases: tuple[Case, ...]
    keys: tuple[Key, ...]
    mistakes: tuple[Mistake, ...]
    kept_back: float


def dumps(sheets: Sequence[Sheet]) -> str:
    """Write sheets as JSON text, the same text for the same sheets, a line a case."""
    parts = []
    for sheet in sheets:
        whole = _sheet(sheet)
        cases = ",\n".join(json.dumps(case, ensure_ascii=False) for case in whole.pop("cases"))
        head = json.dumps(whole, indent=1, ensure_ascii=False).removesuffix("\n}")
        parts.append(f'{head},\n "cases": [\n{cases}\n]}}')
    return "[\n" + ",\n".join(parts) + "\n]\n"


def loads(text: str) -> list[Sheet]:
    """Read sheets from JSON text."""
    return [_read_sheet(data) for data in json.loads(text)]


@cache
def visible_sheets() -> dict[str, Sheet]:
    """Read the visible cases of every lab, by exercise name."""
    folder = files("attnlab") / "visible"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".json"))
    sheets = [s for name in names for s in loads((folder / name).read_text(encoding="utf-8"))]
    return {sheet.exercise.name: sheet for sheet in sheets}


def _sheet(sheet: Sheet) -> dict[str, Any]:
    return {
        "exercise": _without_defaults(sheet.exercise),
        "kept_back": sheet.kept_back,
        "mistakes": [{"name": m.name, "hint": m.hint} for m in sheet.mistakes],
        "cases": [
            _without_defaults(case)
            | {
                "inputs": {name: _input(value) for name, value in case.inputs.items()},
                "expected": _arrays(key.expected),
                "wrong": {
                    str(m): [w.type, w.kind] if isinstance(w, Failure) else _arrays(w)
                    for m, w in key.wrong.items()
                },
            }
            for case, key in zip(sheet.cases, sheet.keys, strict=True)
        ],
    }


def _read_sheet(data: dict[str, Any]) -> Sheet:
    cases, keys = [], []
    for row in data["cases"]:
        expected = _read_arrays(row.pop("expected"))
        wrong = {
            int(m): Failure(*w) if isinstance(w, list) else _read_arrays(w)
            for m, w in row.pop("wrong").items()
        }
        row["inputs"] = {name: _read_input(value) for name, value in row["inputs"].items()}
        row["bounds"] = {n: (low, high) for n, (low, high) in row.get("bounds", {}).items()}
        tuples = {name: tuple(row[name]) for name in ("compare", "raises") if name in row}
        cases.append(Case(**(row | tuples)))
        keys.append(Key(expected, wrong))
    exercise = Exercise(**(data["exercise"] | {"results": tuple(data["exercise"]["results"])}))
    mistakes = tuple(Mistake(**m) for m in data["mistakes"])
    return Sheet(exercise, tuple(cases), tuple(keys), mistakes, data["kept_back"])


def _without_defaults(item: Case | Exercise) -> dict[str, Any]:
    defaults = {"visible": True, "compare": (), "raises": (), "bounds": {}, "untouched": False}
    defaults |= {"boolean": False, "topic": "", "probe": "call", "measure": "results"}
    return {n: v for n, v in vars(item).items() if n not in defaults or v != defaults[n]}


def write_input(value: Input) -> Any:
    """Write a generator or a layer as a dictionary; arrays and numbers stay as they are."""
    if isinstance(value, Rng):
        return {"rng": value.seed}
    if isinstance(value, Layer):
        return {"layer": value.name}
    return value


def read_input(value: Any) -> Input:
    """Read what `write_input` wrote."""
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    return Rng(value["rng"]) if "rng" in value else Layer(value["layer"])


def _input(value: Input) -> Any:
    return _array(value) if isinstance(value, np.ndarray) else write_input(value)


def _read_input(value: Any) -> Input:
    is_array = isinstance(value, dict) and "flat" in value
    return _read_array(value) if is_array else read_input(value)


def _arrays(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    return {name: _array(array) for name, array in arrays.items()}


def _read_arrays(data: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: _read_array(array) for name, array in data.items()}


def _array(array: np.ndarray) -> dict[str, Any]:
    array = np.asarray(array)
    flat = [_rounded(item) for item in array.ravel().tolist()]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "flat": flat}


def _read_array(data: Mapping[str, Any]) -> np.ndarray:
    return np.array(data["flat"], dtype=data["dtype"]).reshape(data["shape"])


def _rounded(item: Any) -> Any:
    return float(f"{item:.{DIGITS}g}") + 0.0 if isinstance(item, float) else item
