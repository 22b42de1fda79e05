"""Show a report as a table, in text and in HTML."""

from __future__ import annotations

import re
from html import escape

import numpy as np

from attnlab.exercise import Layer, Rng
from attnlab.judge import Report, Verdict
from attnlab.words import plain

# Colours carry no meaning alone: every row also says "passed" or "not yet" in words. Only
# the notebook's own text colour is used for text, so light and dark themes both work.
_STYLE = (
    "border-collapse:collapse;margin:.5em 0;text-align:left;font-size:.95em",
    "text-align:left;vertical-align:top;padding:.35em .8em;border-bottom:1px solid #8884",
)

LONG = 60  # characters; shorter remarks are repeated as they are
WITH = "This is what you get with:"


class Shown:
    """A report that notebooks draw as a table and terminals print as text."""

    def __init__(self, report: Report, note: str = "", graded: bool = False) -> None:
        self.report = report
        self.note = note
        self.graded = graded

    def __repr__(self) -> str:
        lines = [plain(self._headline())]
        lines += [plain(f"{WITH} {m.name}. {m.hint}") for m in self.report.mistakes]
        for verdict, remark in zip(self.report.verdicts, self._remarks(), strict=True):
            lines.append(f"  {_state(verdict):8} {_points(verdict):>11}  {verdict.case.name}")
            if remark:
                lines.append(f"  {'':21}{plain(remark)}")
        lines += [plain(line) for line in (self._kept_back(), self.note) if line]
        if printed := self._printed():
            lines += ["Your code printed:", printed]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        table, cell = _STYLE
        head = "".join(
            f'<th scope="col" style="{cell}">{title}</th>'
            for title in ("case", "result", "points", "what we saw")
        )
        rows = "".join(
            f'<tr><td style="{cell}">{_html(v.case.name)}</td>'
            f'<td style="{cell}">{"✓" if v.passed else "✗"}&nbsp;{_state(v)}</td>'
            f'<td style="{cell};white-space:nowrap">{_points(v)}</td>'
            f'<td style="{cell}">{_html(remark)}{_case_in_full(v)}</td></tr>'
            for v, remark in zip(self.report.verdicts, self._remarks(), strict=True)
        )
        hints = "".join(
            f"<p>{WITH} <strong>{_html(m.name)}</strong>. {_html(m.hint)}</p>"
            for m in self.report.mistakes
        )
        notes = "".join(f"<p>{_html(t)}</p>" for t in (self._kept_back(), self.note) if t)
        printed = self._printed()
        said = (
            f"<details><summary>Your code printed</summary>{_pre(printed)}</details>"
            if printed
            else ""
        )
        return (
            f'<div class="attnlab-report"><p><strong>{_html(self._headline())}</strong></p>'
            f"{hints}"
            f'<table style="{table}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
            f"{notes}{said}</div>"
        )

    def _remarks(self) -> list[str]:
        """Say what was seen in each case; a long remark that comes again is said once."""
        remarks: list[str] = []
        for verdict in self.report.verdicts:
            remark = self._remark(verdict)
            again = len(remark) > LONG and remark in remarks
            remarks.append("The same as above." if again else remark)
        return remarks

    def _remark(self, verdict: Verdict) -> str:
        """Say what was seen, and which mistake it is where the rows do not all tell of one."""
        failing = [v for v in self.report.verdicts if not v.passed]
        if verdict.mistake is None or all(v.mistake == verdict.mistake for v in failing):
            return verdict.message
        return f"As with: {verdict.mistake.name}. {verdict.message}".strip()

    def _headline(self) -> str:
        name, total = f"`{self.report.exercise.name}`", self.report.exercise.points
        if self.graded:
            return f"{name}: {self.report.score:g} of {total:g} points"
        shown = total - self.report.kept_back
        if self.report.passed:
            return f"{name}: every case shown here passes ({shown:g} of {shown:g} points)"
        return f"{name}: {self.report.score:g} of the {shown:g} points shown here"

    def _kept_back(self) -> str:
        if self.graded or not self.report.kept_back:
            return ""
        return (
            f"The other {self.report.kept_back:g} of {self.report.exercise.points:g} points are "
            "given when your work is graded, for the same contract on other inputs."
        )

    def _printed(self) -> str:
        """What the answer printed on cases the learner may see, shortest useful form."""
        if self.graded:
            return ""
        return next((v.printed for v in self.report.verdicts if v.printed), "")


def _case_in_full(verdict: Verdict) -> str:
    """Fold away the inputs of a visible case that failed, and what it should give."""
    if verdict.passed or not verdict.case.visible:
        return ""
    lines = [_assignment(name, value) for name, value in verdict.case.inputs.items()]
    case = verdict.case
    counted = set(case.compare or verdict.expected) - case.bounds.keys()
    wanted = {name: value for name, value in verdict.expected.items() if name in counted}
    lines += [_assignment(f"wanted_{name}", value) for name, value in wanted.items()]
    text = "\n".join(lines)
    if not text:
        return ""
    return f"<details><summary>this case in full</summary>{_pre(text)}</details>"


def _pre(text: str) -> str:
    """Write text as it stands: JupyterLab would break its lines, in the middle of numbers too."""
    return f'<pre style="white-space:pre;overflow-x:auto">{escape(text)}</pre>'


def _assignment(name: str, value: object) -> str:
    """Write a name and its value as the learner could type them."""
    start = f"{name} = "
    if isinstance(value, np.ndarray) and value.ndim:
        start += "np.array("
        text = np.array2string(value, precision=4, separator=", ", prefix=start)
        return f"{start}{text})"
    return start + _code(value)


def _code(value: object) -> str:
    if isinstance(value, Rng):
        return f"np.random.default_rng({value.seed})"
    if isinstance(value, Layer):
        return f"LAYERS[{value.name!r}]"
    return repr(value.item() if isinstance(value, np.ndarray) else value)


def _state(verdict: Verdict) -> str:
    return "passed" if verdict.passed else "not yet"


def _points(verdict: Verdict) -> str:
    return f"{verdict.score:g} of {verdict.case.points:g}"


def _html(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
