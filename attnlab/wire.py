"""Messages between processes: JSON with arrays as raw bytes. Reading one cannot run anything."""

from __future__ import annotations

import json
import math
import os
import select
import struct
import time
from typing import Any

import numpy as np

LONGEST = 40_000_000  # bytes; the largest honest message is well under 1 MB
PLAIN = frozenset({"|b1", "<i8", "<f8", "<c16"})  # the kinds of array that may cross

_HEAD = struct.Struct("!Q")  # a message's length stands before it
_ARRAY = "$array"


def pack(value: Any) -> bytes:
    """Write dictionaries, lists, texts, numbers and plain arrays as one message."""
    buffers: list[bytes] = []

    def array(item: Any) -> dict[str, Any]:
        if not isinstance(item, np.ndarray):
            raise TypeError(f"a {type(item).__name__} cannot be sent")
        buffers.append(item.tobytes())
        return {_ARRAY: [item.dtype.str, list(item.shape)]}

    text = json.dumps(value, default=array).encode()
    return b"".join([_HEAD.pack(len(text)), text, *buffers])


def unpack(data: bytes) -> Any:
    """Read a message; ValueError when it is not one of ours, whatever it is."""
    rest = memoryview(data)[_HEAD.size :]

    def array(item: dict[str, Any]) -> Any:
        nonlocal rest
        if _ARRAY not in item:
            return item
        dtype, shape = item[_ARRAY]
        if dtype not in PLAIN:
            raise ValueError(f"an array of {dtype!r}")
        if not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError(f"an array of shape {shape!r}")
        length = math.prod(shape) * np.dtype(dtype).itemsize
        if length > len(rest):
            raise ValueError("an array that was cut off")
        found = np.frombuffer(bytes(rest[:length]), dtype).reshape(shape)
        rest = rest[length:]
        return found.copy()

    try:
        (length,) = _HEAD.unpack_from(data)
        text = bytes(rest[:length])
        rest = rest[length:]
        return json.loads(text, object_hook=array)
    except (ValueError, TypeError, KeyError, RecursionError, MemoryError, struct.error) as error:
        raise ValueError("not a message of ours") from error


def send(pipe: int, message: bytes) -> None:
    """Write a message to a pipe or socket, all of it."""
    rest = memoryview(_HEAD.pack(len(message)) + message)
    while rest:
        rest = rest[os.write(pipe, rest) :]


class Reader:
    """Reads messages from a pipe or socket."""

    def __init__(self, pipe: int, longest: int = LONGEST) -> None:
        self._pipe = pipe
        self._longest = longest
        self._received = b""

    def read(self, until: float | None = None) -> bytes:
        """Wait for one whole message.

        Parameters
        ----------
        until : the `time.monotonic()` at which to stop waiting; None waits for ever

        Raises
        ------
        TimeoutError, EOFError : when none came in time, or none can come any more
        ValueError : when one is announced that is too long to be ours
        """
        parts, there = [self._received], len(self._received)
        length = None
        while True:
            if length is None and there >= _HEAD.size:
                parts = [b"".join(parts)]
                (length,) = _HEAD.unpack_from(parts[0])
                if length > self._longest:
                    raise ValueError("a message too long to be ours")
            if length is not None and there >= _HEAD.size + length:
                whole = b"".join(parts)
                self._received = whole[_HEAD.size + length :]
                return whole[_HEAD.size : _HEAD.size + length]
            wait = None if until is None else max(0.0, until - time.monotonic())
            ready, _, _ = select.select([self._pipe], [], [], wait)
            if not ready:
                self._received = b"".join(parts)
                raise TimeoutError
            part = os.read(self._pipe, 1 << 20)
            if not part:
                raise EOFError
            parts.append(part)
            there += len(part)
