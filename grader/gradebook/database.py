"""Open the course's gradebook, and wait while another program holds it."""

from __future__ import annotations

from typing import Any

from nbgrader.api import Gradebook
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from grader.gradebook.states import create_table

PATIENCE = 60.0  # seconds; the formgrader and `nbgrader autograde` hold SQLite for moments


class GradebookError(Exception):
    """Why the gradebook could not be read or written, and what to do."""


def open_gradebook(api: Any, patience: float = PATIENCE) -> Any:
    """Open nbgrader's gradebook with our table in it.

    Parameters
    ----------
    api : nbgrader's interface, as `grader.nbgrader_api.course` opens it
    patience : how many seconds to wait for a SQLite file that another program is writing

    Returns
    -------
    nbgrader's Gradebook; close it after use

    Raises
    ------
    GradebookError : when it cannot be opened
    """
    url = make_url(api.coursedir.db_url)
    if url.get_backend_name() == "sqlite" and "timeout" not in url.query:
        url = url.update_query_dict({"timeout": str(patience)})
    try:
        # nbgrader makes its own tables first: it takes a database with tables in it for one
        # whose version it has noted.
        gradebook = Gradebook(url.render_as_string(hide_password=False), api.course_id)
        create_table(gradebook.engine)
    except DBAPIError as error:
        raise GradebookError(in_words(error)) from error
    return gradebook


def in_words(error: DBAPIError) -> str:
    """Say what a database error means to the person who grades."""
    if "locked" in str(error.orig):
        return (
            "The gradebook is locked: another program kept writing to it all the time we waited. "
            "Close the formgrader and any other nbgrader command, then run this again; what is "
            "done is kept."
        )
    if "no such column" in str(error.orig) or "UndefinedColumn" in type(error.orig).__name__:
        return (
            "The gradebook was made by an older nbgrader. Make a copy of it, then run "
            f"`nbgrader db upgrade`. (The database said: {error.orig})"
        )
    return f"The gradebook could not be used. The database said: {error.orig}"
