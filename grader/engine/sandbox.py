"""How the runner is started: inside bubblewrap, or without it where that was asked for."""

from __future__ import annotations

import os
import shutil
import site
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import attnlab
import grader.runner
from grader.runner import HOME

INSTALL = "apt-get install bubblewrap libseccomp2"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SETTINGS = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
ENGINE = "/engine"  # where the runner and attnlab stand inside
# As root, each sandbox gets a user of its own, so that its processes are counted by themselves:
# above those that Linux gives out, and below 65,536, where the users of many containers end.
USERS, MOST_USERS = 60_000, 5_000

# One thread: a process with several cannot be forked safely. The same hash order every time:
# a mark must not depend on it.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "agg",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "NBGRADER_EXECUTION": "autograde",  # tells `check` that the marks are made elsewhere
}
# What a machine may need to be told about its own processor.
KEPT = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


class SandboxMissing(Exception):
    """Why hand-ins cannot be run in a sandbox here, and what to do."""


def require() -> None:
    """Do nothing where the sandbox is there.

    Raises
    ------
    SandboxMissing : with the reason, where it is not
    """
    reason = why_missing()
    if reason:
        raise SandboxMissing(reason)


@cache
def why_missing() -> str:
    """Say what the sandbox lacks on this machine; empty when nothing."""
    if sys.platform != "linux":
        return "The sandbox needs Linux: see the README for grading in a container."
    if shutil.which("bwrap") is None:
        return f"bubblewrap is not installed. On Debian and Ubuntu: {INSTALL}"
    if find_spec("pyseccomp") is None:
        return "The package pyseccomp is not installed: pip install '.[course]'"
    try:
        import pyseccomp  # noqa: F401
    except (OSError, RuntimeError, ImportError) as error:
        return f"libseccomp cannot be loaded ({error}). On Debian and Ubuntu: {INSTALL}"
    from grader.engine.worker import Worker, WorkerDied

    try:
        with Worker() as worker:
            worker.try_out()
    except WorkerDied as error:
        return (
            f"bubblewrap is installed but cannot make a sandbox here ({error}). User namespaces "
            "may be switched off: see the README for grading in a container."
        )
    return ""


def command(control: int, confined: bool, slot: int) -> list[str]:
    """Write the command line that starts a warm process.

    Parameters
    ----------
    control : the open socket through which it is told what to do
    confined : whether to put it into bubblewrap
    slot : a number that no other sandbox of this machine has now
    """
    runner = [str(control), "confined" if confined else "open", str(USERS + slot % MOST_USERS)]
    python = [sys.executable, "-P", "-s", "-m"]
    if not confined:
        return [*python, "grader.runner", *runner]
    return [*_bubblewrap(), *python, "runner", *runner]


def environment(confined: bool, home: str) -> dict[str, str]:
    """List the variables that the runner sees; none of those of whoever grades.

    Parameters
    ----------
    confined : whether it stands in bubblewrap
    home : the folder to write in where it does not
    """
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    if confined:
        places = [ENGINE, *map(str, _site_packages())]
    else:
        places = [str(Path(attnlab.__path__[0]).parent)]
        places.append(str(Path(grader.runner.__path__[0]).parents[1]))
    homes = ("HOME", "TMPDIR", "MPLCONFIGDIR", "IPYTHONDIR")
    own = dict.fromkeys(homes, HOME if confined else home)
    return ENVIRONMENT | kept | own | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(places))}


def _bubblewrap() -> list[str]:
    words = [
        shutil.which("bwrap") or "bwrap",
        "--die-with-parent",
        "--new-session",
        "--hostname",
        "sandbox",
    ]
    words += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"]
    if os.getuid() == 0:  # the warm process stays root, to become another user for each hand-in
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_KILL"):
            words += ["--cap-add", capability]
    else:
        words.append("--unshare-user")
    for place in SYSTEM:
        if os.path.islink(place):
            words += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            words += ["--ro-bind", place, place]
    for course in _courses():  # its gradebook would be seen, say in a container's /usr/src
        words += ["--tmpfs", str(course)]
    for place in SETTINGS:
        words += ["--ro-bind-try", place, place]
    folders = {parent for folder in _python() for parent in folder.parents} - {Path("/")}
    for folder in sorted({*folders, Path("/tmp")}):  # bubblewrap would make them for root alone
        words += ["--perms", "0755", "--dir", str(folder)]
    for folder in _python():
        words += ["--ro-bind", str(folder), str(folder)]
    words += ["--perms", "0755", "--dir", ENGINE]
    for module, name in ((attnlab, "attnlab"), (grader.runner, "runner")):
        words += ["--ro-bind", module.__path__[0], f"{ENGINE}/{name}"]
    words += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    words += ["--perms", "0755", "--dir", str(Path(HOME).parent), "--tmpfs", HOME]
    return [*words, "--remount-ro", "/", "--chdir", HOME, "--"]


def _courses() -> list[Path]:
    """List the folders of this code and of the course where they stand in a system's folder."""
    places = {Path(grader.runner.__path__[0]).parents[1].resolve(), Path.cwd()}
    return sorted(p for p in places if any(Path(folder) in p.parents for folder in SYSTEM))


@cache
def _python() -> tuple[Path, ...]:
    """List the folders that Python and its packages stand in, outermost ones only."""
    places = {Path(place) for place in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    places |= {Path(sys.executable).parent, Path(os.path.realpath(sys.executable)).parent}
    places |= {Path(sysconfig.get_path("stdlib")), *_site_packages()}
    return tuple(
        sorted(
            place
            for place in places
            if place.is_dir()
            if not any(other in place.parents for other in (*places, *map(Path, SYSTEM)))
        )
    )


def _site_packages() -> Iterator[Path]:
    """List the folders of packages that stand outside Python's own, such as a user's."""
    for place in (*site.getsitepackages(), site.getusersitepackages()):
        if place in sys.path and Path(place).is_dir():
            yield Path(place)
