"""A warm process: all that hand-ins import is loaded once, and each hand-in gets a fork of it.

It reads nothing of a hand-in itself, so that none can be found in its memory by the next one:
it is handed open pipes, and passes them on.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
from pathlib import Path

from attnlab import wire

from .confine import adopt_orphans, give_up_rights, own_namespaces
from .hand_in import Ground, play

MOST_PIPES = 64

# The first cell of a shell is slow, and so is the first error that shows this or that of Python.
SLOW_THE_FIRST_TIME = (
    "import numpy as np",
    '''
from math import pi as number


class Layer:
    """A layer."""

    @property
    def forward(self) -> float:
        x = [f"{a!r:.2f}" for a in (1.0, 0x2, 3j, True, None) if a not in {}]
        return np.exp(x[0]) @ (lambda *a, **k: ...)("text", b"b")  # a comment
''',
    "Layer().forward",
    "raise NotImplementedError()",
)


def main() -> None:
    """Serve the one who grades through an open socket, until it closes it."""
    control = socket.socket(fileno=int(sys.argv[1]))
    confined = sys.argv[2] == "confined"
    user = int(sys.argv[3])
    adopt_orphans()
    ground = warm_up()
    control.send(b"ready")
    while True:
        command, pipes, _, _ = socket.recv_fds(control, 16, MOST_PIPES)
        if not command:
            end_all()
            os._exit(0)  # there is nothing to tidy up
        if command == b"play":
            start(ground, control, pipes, confined, user)
        else:
            end_all()
            control.send(b"ended")


def warm_up() -> Ground:
    """Load everything. The shell comes before pyplot, or IPython would show no figure."""
    from .shell import captured, new_shell

    shell = new_shell()
    from attnlab import example, measures, probes  # noqa: F401
    from attnlab.encode import visible_sheets

    from .tracebacks import quicken
    from .undrawn import Drawing

    visible_sheets()
    quicken()
    drawing = Drawing()
    for code in SLOW_THE_FIRST_TIME:
        with captured(shell):
            shell.run_cell(code)
    shell.reset(new_session=True)
    shell.outputs.count = 0
    no_input()
    gc.collect()
    gc.freeze()  # so that forks need not copy the pages of what lives for ever
    return Ground(shell, drawing)


def no_input() -> None:
    """Let `input()` say that nobody is there, as a kernel does while it grades."""
    import builtins

    from IPython.core.error import StdinNotImplementedError

    def nobody(prompt: object = "") -> str:
        raise StdinNotImplementedError("input() has nobody to ask while a hand-in is graded")

    builtins.input = nobody


def start(
    ground: Ground, control: socket.socket, pipes: list[int], confined: bool, user: int
) -> None:
    """Fork for a hand-in, hand over the pipes, and forget them."""
    if os.fork() == 0:
        try:
            control.close()
            if confined:
                own_namespaces()
                if os.fork():  # the fork is the first process of its own process namespace
                    for pipe in pipes:
                        os.close(pipe)
                    os.wait()
                    os._exit(0)
            give_up_rights(confined, user)
            play(ground, pipes[0], pipes[1:])
        except BaseException as error:
            with contextlib.suppress(OSError):
                wire.send(pipes[0], wire.pack({"broken": f"{type(error).__name__}: {error}"}))
        finally:
            os._exit(0)
    for pipe in pipes:
        os.close(pipe)


def end_all() -> None:
    """Kill the hand-in and everything it started, and wait until all of it is gone."""
    while True:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


if __name__ == "__main__":
    main()
