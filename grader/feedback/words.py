"""Every word of the page that is not the lab's, the student's or the instructor's."""

from __future__ import annotations

LANGUAGE = "en"

TITLE = "Feedback on {lab}"
FOR = "for {student}"
MARKS = "Your marks"
TOTAL = "{score} of {most} points"
NO_MARKS = "No marks are written down for this hand-in yet. Ask your instructor."
WAITING_ONE = "One answer waits to be marked by a person. Its points are not in the total yet."
WAITING = "{number} answers wait to be marked by a person. Their points are not in the total yet."
EXTRA = "Extra credit is in the total: {points}."
LATE = "For handing in late, {points} are taken off."

POINTS = "points"
ONE_POINT = "1 point"
SEVERAL_POINTS = "{number} points"
PART = "part"
RESULT = "result"
MISTAKE = "first named mistake"
WRITTEN_PART = "written"
OF = "{score} of {most}"
NOT_MARKED_POINTS = "– of {most}"

FULL = "full marks"
SOME = "part of the marks"
NONE = "no marks yet"
NOT_WRITTEN = "not written"
WAITS = "waits for a person"
NOT_MARKED = "not marked"
SIGNS = {FULL: "✓", SOME: "◐", NONE: "✗", NOT_WRITTEN: "○", WAITS: "…", NOT_MARKED: "…"}

REPAIRS = "Before marking we put these right:"
FOLDED = "The lab’s text and code"
YOUR_CODE = "Your code"
LABS_CELL = "What a cell of the lab gave"
YOUR_TEXT = "Your text"
YOUR_ANSWER = "Your answer"
VERDICT = "Marked:"
TO_THE_TOP = "to the marks"
COMMENT = "Your instructor wrote:"
SET_BY_HAND = "Your instructor set this to {score} of {most}."
EXTRA_HERE = "With {points} of extra credit."
NOTHING_WRITTEN = "Nothing is written here."
NO_VERDICT = "There is no table for this exercise. If you wrote an answer, ask your instructor."

UNREADABLE = (
    "The marked copy of this hand-in could not be read, so your work cannot be shown here. "
    "Ask your instructor to mark it again."
)
NOT_SHOWN = "This cell could not be shown."
EMPTY_PICTURE = "A picture that this cell drew; it has no words of its own."
TOO_LARGE = "An output is left out here: it is too large for this page ({size} MB)."
MORE_OUTPUTS = "{number} more outputs are left out here."
CUT = "… the rest is left out here; it is long."


def points(number: float) -> str:
    """Say a number of points."""
    return ONE_POINT if number == 1 else SEVERAL_POINTS.format(number=short(number))


def short(number: float) -> str:
    """Write a number of points with two decimals at most, and none that it does not need."""
    return f"{round(number, 2) + 0.0:g}"
