"""Show a report as a table, in text and in HTML."""

from __future__ import annotations

import re
from html import escape

from attnlab.judge import Report, Verdict

# Colours carry no meaning alone: every row also says "passed" or "not yet" in words. Only
# the notebook's own text colour is used for text, so light and dark themes both work.
_STYLE = (
    "border-collapse:collapse;margin:.5em 0;text-align:left;font-size:.95em",
    "text-align:left;vertical-align:top;padding:.35em .8em;border-bottom:1px solid #8884",
)

WITH = "This is what you get with:"


class Shown:
    """A report that notebooks draw as a table and terminals print as text."""

    def __init__(self, report: Report, note: str = "", graded: bool = False) -> None:
        self.report = report
        self.note = note
        self.graded = graded

    def __repr__(self) -> str:
        lines = [_plain(self._headline())]
        lines += [_plain(f"{WITH} {m.name}. {m.hint}") for m in self.report.mistakes]
        for verdict in self.report.verdicts:
            lines.append(f"  {_state(verdict):8} {_points(verdict):>11}  {verdict.case.name}")
            if remark := self._remark(verdict):
                lines.append(f"  {'':21}{_plain(remark)}")
        lines += [_plain(line) for line in (self._kept_back(), self.note) if line]
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
            f'<td style="{cell}">{_html(self._remark(v))}</td></tr>'
            for v in self.report.verdicts
        )
        hints = "".join(
            f"<p>{WITH} <strong>{_html(m.name)}</strong>. {_html(m.hint)}</p>"
            for m in self.report.mistakes
        )
        notes = "".join(f"<p>{_html(t)}</p>" for t in (self._kept_back(), self.note) if t)
        printed = self._printed()
        said = (
            f"<details><summary>Your code printed</summary><pre>{escape(printed)}</pre></details>"
            if printed
            else ""
        )
        return (
            f'<div class="attnlab-report"><p><strong>{_html(self._headline())}</strong></p>'
            f"{hints}"
            f'<table style="{table}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
            f"{notes}{said}</div>"
        )

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


def _state(verdict: Verdict) -> str:
    return "passed" if verdict.passed else "not yet"


def _points(verdict: Verdict) -> str:
    return f"{verdict.score:g} of {verdict.case.points:g}"


def _plain(text: str) -> str:
    return text.replace("`", "")


def _html(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
