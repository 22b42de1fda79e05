"""The command line of the learner: `attnlab export`, also `python -m attnlab export`.

Exit codes: 0 fine, 1 something to look at, 2 not written.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from attnlab.export import NotExported
from attnlab.export import export as export_module

SOMETHING_TO_LOOK_AT, NOT_WRITTEN = 1, 2

app = typer.Typer(
    help="What you built in the attention labs, for use elsewhere.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def main() -> None:
    """What you built in the attention labs, for use elsewhere."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # names may hold letters that a console lacks
            stream.reconfigure(errors="replace")


@app.command()
def export(
    folder: Annotated[
        Path, typer.Argument(help="The folder that holds the four labs, or one above it.")
    ] = Path("."),
    to: Annotated[Path, typer.Option(help="The file to write.")] = Path("attention.py"),
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that was not made by this command.")
    ] = False,
) -> None:
    """Write your functions and classes of the four labs into one module, attention.py."""
    try:
        made = export_module(folder, to, force)
    except NotExported as error:
        typer.echo("Not written:", err=True)
        for reason in error.reasons:
            typer.echo(f"  {reason}", err=True)
        raise typer.Exit(NOT_WRITTEN) from error
    typer.echo(f"Wrote {made.path} with {len(made.names)} of your functions and classes.")
    for note in made.notes:
        typer.echo(f"  note: {note}")
    for reason in made.left_out:
        typer.echo(f"  left out: {reason}")
    if made.left_out:
        raise typer.Exit(SOMETHING_TO_LOOK_AT)


if __name__ == "__main__":
    app(prog_name="attnlab")
