"""A hand-in's files on their way to whoever grades them, on this machine or another."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

LARGEST = 50_000_000  # bytes; of a larger file only its size is sent along


@dataclass(frozen=True)
class File:
    """One file: what it holds (None when that is too much), how long it is, and its age."""

    content: bytes | None
    size: int
    modified: float


Parcel = Mapping[str, File]  # path inside the hand-in's folder -> file


def pack(folder: Path) -> Parcel:
    """Read the files of a hand-in; links are left out, since they may lead anywhere."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        about = path.stat()
        content = path.read_bytes() if about.st_size <= LARGEST else None
        found[str(path.relative_to(folder))] = File(content, about.st_size, about.st_mtime)
    return found


def digest_of(parcel: Parcel) -> str:
    """Mix names and contents into one text."""
    mixed = sha256()
    for name, file in parcel.items():
        content = str(file.size).encode() if file.content is None else file.content
        mixed.update(os.fsencode(name) + b"\0" + sha256(content).digest())
    return mixed.hexdigest()


@contextmanager
def unpacked(parcel: Parcel) -> Iterator[Path]:
    """Lay the files out in a folder that goes away with the block."""
    with tempfile.TemporaryDirectory(prefix="hand-in-") as place:
        for name, file in parcel.items():
            path = Path(place) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if file.content is not None:
                path.write_bytes(file.content)
            else:
                with path.open("wb") as empty:
                    empty.truncate(file.size)
            os.utime(path, (file.modified, file.modified))
        yield Path(place)
