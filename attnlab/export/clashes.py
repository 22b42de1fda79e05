"""Two labs with different helpers of one name: which of them get another name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from attnlab.export.layer import BASE
from attnlab.export.needs import Needed
from attnlab.export.statements import Statement


class Clash(Exception):
    """Two things of one name that cannot stand in one module, with what to do."""


def settle(
    wanted: list[Statement], needed: Needed, homes: Mapping[str, str]
) -> tuple[list[Statement], dict[str, dict[str, str]]]:
    """Leave out what two labs have alike, and find new names for what they have differently.

    Parameters
    ----------
    wanted : the statements, lab after lab
    homes : the lab of each exercise; an exercise's name is the same everywhere

    Returns
    -------
    the statements to keep, and for each lab its new names by their old ones

    Raises
    ------
    Clash : when a lab itself uses a name for an import and for something else
    """
    by_name: dict[str, dict[str, list[Statement]]] = {}
    for statement in wanted:
        for name in statement.binds - homes.keys() - {BASE}:
            by_name.setdefault(name, {}).setdefault(statement.lab, []).append(statement)
    # What changes is each lab's own, even where it begins alike.
    changing = frozenset().union(*(s.changes_ever for s in wanted))
    unlike = _unlike(by_name, changing)
    kept: list[Statement] = []
    seen: list[tuple[str, Statement]] = []
    for statement in wanted:
        names = statement.binds & by_name.keys()
        twins = [s for lab, s in seen if lab != statement.lab and s.binds == statement.binds]
        if names and not names & unlike and any(s.same_code(statement) for s in twins):
            continue
        kept.append(statement)
        seen.append((statement.lab, statement))
    taken = {word for s in wanted for word in re.findall(r"\w+", s.text)}
    new_names: dict[str, dict[str, str]] = {s.lab: {} for s in wanted}
    for name, labs in by_name.items():
        hides = [lab for lab, names in needed.built_in.items() if name in names and lab not in labs]
        first, *others = labs
        for lab in [*([first] if hides else []), *(others if name in unlike or hides else [])]:
            new = f"{name}_{lab.partition('_')[0]}"
            while new in taken:
                new += "_"
            taken.add(new)
            new_names[lab][name] = new
        for lab, statements in labs.items():
            _refuse_mixed(name, lab, statements)
    return kept, new_names


def _unlike(
    by_name: Mapping[str, Mapping[str, Sequence[Statement]]], changing: frozenset[str]
) -> set[str]:
    """List the names that labs have in common and differently, by what they lean on too."""
    shared = {name: [*labs.values()] for name, labs in by_name.items() if len(labs) > 1}
    unlike = shared.keys() & changing
    unlike |= {name for name, (first, *others) in shared.items() if not _all_same(first, others)}
    while True:
        more = {
            name
            for name, versions in shared.items()
            if name not in unlike
            for statement in versions[0]
            if (statement.reads_now | statement.reads_later | statement.binds) & unlike
            or any(n in by_name and n not in shared for n in _leans_on(statement))
        }
        if not more:
            return unlike
        unlike |= more


def _leans_on(statement: Statement) -> frozenset[str]:
    return (statement.reads_now | statement.reads_later) - statement.binds


def _all_same(first: Sequence[Statement], others: Iterable[Sequence[Statement]]) -> bool:
    return all(
        len(first) == len(other) and all(a.same_code(b) for a, b in zip(first, other, strict=True))
        for other in others
    )


def _refuse_mixed(name: str, lab: str, statements: Sequence[Statement]) -> None:
    """Stop where an import, which goes to the top, would come before what it replaced."""
    imports = [s for s in statements if s.imported]
    last = imports[-1] if imports else None
    # `import a` and `import a.b` bind one and the same `a`.
    packages = [s for s in imports if last and last.keeps_older and s.keeps_older]
    others = [s for s in statements if last and not s.same_code(last) and s not in packages]
    if last and others and last.order > others[0].order:
        raise Clash(
            f"{lab}, cell {last.cell}: `{name}` is imported there and was something else "
            f"in cell {others[0].cell}, which is needed too. Give one of them another name."
        )
