"""Talk to a warm process: hand it a hand-in, hear what its cells put out, try its answers."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psutil

from attnlab import wire
from grader.engine.sandbox import command, environment

START_SECONDS = 120.0  # a cold disk may take long
END_SECONDS = 20.0
GRACE_SECONDS = 2.0
WATCH_SECONDS = 0.3  # how often the memory of a slow hand-in is looked at
SEND_SECONDS = 10  # until a hand-in has taken what it is sent
MOST_MEMORY = 3 << 30  # bytes, of all processes of a hand-in together
LATE = "It did not finish in time."
UNREADABLE = "What it sent could not be read."


class WorkerDied(Exception):
    """The warm process itself is gone or does not answer."""


class HandInDied(Exception):
    """The hand-in's process is gone, or was ended since it took too long.

    Parameters
    ----------
    why : what happened, in a sentence that learners may read
    said : what the process said of it, which they may not: it can hold anything
    """

    def __init__(self, why: str, said: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.said = said


@dataclass(frozen=True)
class Cell:
    """A code cell to run.

    Parameters
    ----------
    code : its text; None when it is only a place at which an answer is taken
    check : the exercise whose answer is taken behind it; "" for none
    course : whether it stands as the course released it, so that its figures may be left out
    """

    code: str | None
    check: str = ""
    course: bool = False


class Worker:
    """A warm process, in a sandbox unless `confined` is False."""

    def __init__(self, confined: bool = True) -> None:
        self._confined = confined
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the warm process and wait until it is ready.

        Raises
        ------
        WorkerDied : with what it said, when it does not become ready
        """
        self.stop()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (closed in `stop`)
        self._home = tempfile.TemporaryDirectory()  # of a hand-in that is not confined
        with theirs:
            self._process = subprocess.Popen(
                command(theirs.fileno(), self._confined, slot=os.getpid()),
                pass_fds=[theirs.fileno()],
                env=environment(self._confined, self._home.name),
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                start_new_session=True,
            )
        self._hear(b"ready", START_SECONDS)

    def stop(self) -> None:
        """End the warm process and all it started."""
        if self._process is None:
            return
        self._control.close()  # at which it ends by itself
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None
        self._said.close()
        self._home.cleanup()

    @property
    def pid(self) -> int | None:
        """The process that was started, bubblewrap's in a sandbox; None when there is none."""
        return None if self._process is None else self._process.pid

    def alive(self) -> bool:
        """Say whether the warm process is there."""
        return self._process is not None and self._process.poll() is None

    def try_out(self) -> None:
        """Run a hand-in of one line.

        Raises
        ------
        WorkerDied : when that cannot be done
        """
        try:
            with self.play([Cell("1 + 1")], seconds=60.0) as session:
                for _ in session.cells(60.0):
                    pass
        except HandInDied as error:
            raise WorkerDied(error.said or error.why) from error

    @contextlib.contextmanager
    def play(
        self,
        cells: Sequence[Cell],
        *,
        seconds: float,
        figures: bool = False,
        quietly: bool = False,
    ) -> Iterator[Session]:
        """Begin a hand-in; it is ended, with everything it started, when the block is left.

        Parameters
        ----------
        cells : its code cells in order
        seconds : what all cells may take together
        figures : whether the course's figures are drawn
        quietly : whether only the names count that the cells leave, and not what they put out
        """
        if not self.alive():
            self.start()
        checks = [cell.check for cell in cells if cell.check]
        pairs = [socket.socketpair() for _ in range(1 + len(checks))]
        try:
            try:
                socket.send_fds(self._control, [b"play"], [theirs.fileno() for _, theirs in pairs])
            except OSError as error:
                raise WorkerDied("it does not take a hand-in") from error
            for _, theirs in pairs:
                theirs.close()
            main, *answers = [ours for ours, _ in pairs]
            program = {"figures": figures, "quietly": quietly, "cells": [vars(c) for c in cells]}
            yield Session(self, main, dict(zip(checks, answers, strict=True)), program, seconds)
        finally:
            for ours, theirs in pairs:
                ours.close()
                theirs.close()
            self._end()

    def _end(self) -> None:
        try:
            self._control.send(b"end")
            self._hear(b"ended", END_SECONDS)
        except (OSError, WorkerDied):
            self.stop()  # the next hand-in gets a new one

    def _hear(self, wanted: bytes, seconds: float) -> None:
        ready, _, _ = select.select([self._control], [], [], seconds)
        word = b""
        if ready:
            with contextlib.suppress(OSError):
                word = self._control.recv(16)
        if word != wanted:
            self._said.seek(0)
            said = self._said.read()[-2000:].decode(errors="replace").strip().splitlines()
            self.stop()
            raise WorkerDied(said[-1] if said else "it does not answer")

    def memory(self) -> int:
        """Add up what the processes of a hand-in hold beyond what they were forked with."""
        if self._process is None:
            return 0
        held: list[int] = []
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in psutil.Process(self._process.pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                    held.append(process.memory_info().rss)
        warm = sorted(held)[:3]  # bubblewrap's own, and the warm process itself
        return sum(held) - len(held) * max(warm, default=0)


class TooMuchMemory(OSError):
    """That a hand-in holds more than it may."""


class Watched(wire.Reader):
    """Reads what a hand-in sends, and looks at its memory meanwhile."""

    def __init__(self, pipe: socket.socket, worker: Worker) -> None:
        super().__init__(pipe.fileno())
        self._worker = worker

    def read(self, until: float | None = None) -> bytes:
        """Wait for one whole message.

        Raises
        ------
        TimeoutError, EOFError, ValueError : as any reader does
        TooMuchMemory : when the hand-in holds more than it may
        """
        while True:
            soon = time.monotonic() + WATCH_SECONDS
            try:
                return super().read(soon if until is None else min(until, soon))
            except TimeoutError:
                if until is not None and time.monotonic() >= until:
                    raise
                if self._worker.memory() > MOST_MEMORY:
                    raise TooMuchMemory from None


@dataclass(frozen=True)
class Answering:
    """The beginning of an answer's trial.

    Parameters
    ----------
    missing : whether nothing of its name is there
    complaint : why what is there cannot be tried at all; "" when it can
    reader : where its records will come from
    """

    missing: bool
    complaint: str
    reader: wire.Reader


class Session:
    """A hand-in that runs."""

    def __init__(
        self,
        worker: Worker,
        main: socket.socket,
        answers: Mapping[str, socket.socket],
        program: Mapping[str, Any],
        seconds: float,
    ) -> None:
        self._worker = worker
        self._main, self._reader = main, Watched(main, worker)
        self._answers = answers
        self._program = program
        self._until = time.monotonic() + seconds

    def cells(self, cell_seconds: float) -> Iterator[Mapping[str, Any]]:
        """Yield, for each cell with code as it ends, its place and its outputs.

        Raises
        ------
        HandInDied : when a cell ended the process, or did not end in time
        """
        _send(self._main, self._program)
        coded = [n for n, cell in enumerate(self._program["cells"]) if cell["code"] is not None]
        for number in coded:
            until = min(self._until, time.monotonic() + cell_seconds)
            said = self._hear(self._reader, until)
            if said.get("cell") != number:
                raise HandInDied(UNREADABLE)
            yield said
        if "end" not in self._hear(self._reader, time.monotonic() + cell_seconds):
            raise HandInDied(UNREADABLE)

    def has(self, name: str) -> bool:
        """Say whether a check of that name was among the cells."""
        return name in self._answers

    def answer(self, name: str, job: Mapping[str, Any], seconds: float) -> Answering:
        """Have an answer tried, and hear first whether there is one.

        Parameters
        ----------
        name : the exercise
        job : its cases, and what else the runner wants to know
        seconds : how long the first word may take

        Raises
        ------
        HandInDied : when the process that should try it is gone
        """
        pipe = self._answers[name]
        _send(pipe, job)
        reader = Watched(pipe, self._worker)
        said = self._hear(reader, time.monotonic() + seconds)
        return Answering(bool(said.get("missing")), str(said.get("complaint", ""))[:500], reader)

    def _hear(self, reader: wire.Reader, until: float) -> Mapping[str, Any]:
        try:
            said = wire.unpack(reader.read(until))
        except TimeoutError as error:
            raise HandInDied(LATE) from error
        except TooMuchMemory as error:
            raise HandInDied("It used up the memory.") from error
        except (EOFError, OSError) as error:
            raise HandInDied("It ended Python itself.") from error
        except ValueError as error:
            raise HandInDied(UNREADABLE) from error
        if not isinstance(said, dict):
            raise HandInDied(UNREADABLE)
        if "broken" in said:
            raise HandInDied("It broke the program that runs it.", str(said["broken"])[:500])
        return said


def _send(pipe: socket.socket, message: Mapping[str, Any]) -> None:
    """Send a message to a process that may have been stopped, and so may never read it."""
    pipe.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", SEND_SECONDS, 0))
    try:
        wire.send(pipe.fileno(), wire.pack(message))
    except OSError as error:
        raise HandInDied("It ended Python itself.") from error
