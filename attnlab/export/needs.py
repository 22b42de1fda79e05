"""What an exported answer leans on: names followed through a notebook, as it stands at its end."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attnlab.export.labs import Lab
from attnlab.export.layer import BASE, LAYER
from attnlab.export.statements import Statement

_BUILT_IN = frozenset(dir(builtins)) | {"__name__", "__doc__", "__file__", "__builtins__"}
_OF_NOTEBOOKS = frozenset({"display", "get_ipython", "In", "Out", "_", "__", "___", "exit", "quit"})


@dataclass
class Needed:
    """The statements that something needs.

    Parameters
    ----------
    statements : those that belong into the module
    first : for each, the ones that must stand above it
    built_in : for each lab, the names that stand for Python's own
    problems : what is missing, one sentence each
    """

    statements: set[Statement] = field(default_factory=set)
    first: dict[Statement, list[Statement]] = field(default_factory=dict)
    built_in: dict[str, set[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, other: Needed) -> None:
        """Take in what another thing needs."""
        self.statements |= other.statements
        self.first |= other.first
        for lab, names in other.built_in.items():
            self.built_in.setdefault(lab, set()).update(names)


class Names:
    """What each name stands for in each lab.

    Parameters
    ----------
    labs : the labs, by stem
    homes : the lab in which each exercise's name is at home: there is the learner's own version
    layer : the class that puts masks into lab 02's layer, when there is one
    """

    def __init__(
        self, labs: Mapping[str, Lab], homes: Mapping[str, str], layer: Statement | None = None
    ) -> None:
        self.labs = labs
        self.homes = homes
        self.layer = layer

    def last(self, lab: str, name: str) -> list[Statement] | None:
        """List the statements that make a name what it is at the end of a lab; None for none."""
        return self._meaning(lab, name, None)

    def meaning(self, reader: Statement, name: str, now: bool) -> list[Statement] | None:
        """List the statements that make a name what a reader of it sees; None for none.

        Parameters
        ----------
        now : whether it is read when the module is made, and not when a function is called
        """
        if name == BASE:
            return self._meaning(self.homes[LAYER], LAYER, None)
        at_home = self.homes.get(name, reader.lab) == reader.lab
        if name == LAYER and self.layer and not (at_home and now):
            return [self.layer]
        if at_home:
            return self._meaning(reader.lab, name, reader if now else None)
        return self._meaning(self.homes[name], name, None)

    def _meaning(self, lab: str, name: str, before: Statement | None) -> list[Statement] | None:
        everything = self.labs[lab].statements if lab in self.labs else ()
        others = [s for s in everything if s is not before]
        touching = [s for s in others if name in s.binds or name in s.deletes]
        earlier = [s for s in touching if before is None or s.order < before.order]
        # Read before it is bound: cells were run in another order, and the last binding counts.
        found: list[Statement] = []
        for statement in reversed(earlier or touching):
            if name in statement.deletes:
                break
            found.insert(0, statement)
            if not statement.keeps_older:
                break
        if not found:
            return None
        if not found[0].imported:  # settings of a library are no part of an answer
            until = before.order if before and earlier else len(everything)
            found += [s for s in others if found[0].order < s.order < until and name in s.changes]
        return sorted({*found}, key=lambda s: s.order)

    def needed_by(self, roots: Sequence[Statement]) -> Needed:
        """Follow everything that some statements need."""
        needed = Needed()
        todo = [*roots]
        while todo:
            statement = todo.pop()
            if statement in needed.statements:
                continue
            needed.statements.add(statement)
            for now, names in ((True, statement.reads_now), (False, statement.reads_later)):
                for name in sorted(names):
                    found = self.meaning(statement, name, now)
                    if found is not None:
                        todo += found
                        if now:
                            needed.first.setdefault(statement, []).extend(found)
                    elif name in _BUILT_IN:
                        needed.built_in.setdefault(statement.lab, set()).add(name)
                    elif name not in statement.binds | statement.made_by_running:
                        needed.problems.append(self._nowhere(statement, name))
            if statement.calls_now:
                called = self._called(statement, needed.first.get(statement, []))
                todo += called
                needed.first.setdefault(statement, []).extend(called)
        return needed

    def _called(self, caller: Statement, functions: list[Statement]) -> list[Statement]:
        """List what functions that may be called at once need in their turn."""
        seen: set[Statement] = {caller}
        found: list[Statement] = []
        todo = [*functions]
        while todo:
            function = todo.pop()
            if function in seen:
                continue
            seen.add(function)
            for name in sorted(function.reads_later):
                reader = caller if caller.lab == function.lab else function
                more = self.meaning(reader, name, now=reader is caller) or []
                found += [s for s in more if s is not caller]
                todo += more
        return found

    def _nowhere(self, reader: Statement, name: str) -> str:
        where = f"{self.labs[reader.lab].name}, cell {reader.cell}"
        if name in _OF_NOTEBOOKS:
            return (
                f"{where}: `{name}` exists only inside a notebook. Take it out of your code, or "
                "import what it stands for."
            )
        others = [lab for lab in self.labs.values() if any(name in s.binds for s in lab.statements)]
        deleted = any(name in s.deletes for s in self.labs[reader.lab].statements)
        hint = f"Define it in a cell of {reader.lab}"
        if deleted:
            hint = "It is deleted there; leave out the `del`"
        elif others:
            hint = f"{others[0].stem} has one: copy that cell here"
        return f"{where}: `{name}` is used and nowhere defined in this notebook. {hint}."
