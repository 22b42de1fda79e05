"""Take from a hand-in what it does not need: sight, rights, and more than its share.

Linux only. The warm process stands in bubblewrap already: no network, no files but Python's and
`attnlab`'s, read-only. Each hand-in gets namespaces of its own on top of that, so that nothing
of it outlives it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import sys
from pathlib import Path

import pyseccomp

from . import HOME

MEMORY = 2 << 30  # bytes of address space beyond what is in use when a hand-in begins
PROCESSES = 48  # processes and threads of one hand-in
FILE = 32 << 20  # bytes of one file
DISK = "64m"  # of all files of one hand-in
FILES = 2048
OPEN_FILES = 256

CLONE_NEWNS, CLONE_NEWIPC = 0x00020000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID = 0x10000000, 0x20000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_CAPBSET_DROP = 1, 24
PR_SET_NO_NEW_PRIVS, PR_SET_CHILD_SUBREAPER = 38, 36
CAPABILITY_VERSION, LAST_CAPABILITY = 0x20080522, 63

# What no answer needs and an attack might. Everything else is allowed.
FORBIDDEN = (
    "ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp "
    "mount umount2 pivot_root chroot unshare setns open_tree move_mount fsopen fsconfig fsmount "
    "fspick mount_setattr bpf perf_event_open userfaultfd keyctl add_key request_key "
    "io_uring_setup io_uring_enter io_uring_register kexec_load kexec_file_load reboot "
    "swapon swapoff init_module finit_module delete_module iopl ioperm acct quotactl syslog "
    "settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname "
    "open_by_handle_at name_to_handle_at personality socket connect bind listen accept accept4 "
    "memfd_create memfd_secret shmget shmat msgget semget mq_open fanotify_init inotify_init "
    "inotify_init1 setpriority sched_setscheduler sched_setattr mlock mlock2 mlockall vhangup"
)

_libc = ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Make this process the parent of what its descendants leave behind, so that it can end it."""
    _must("prctl", _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def die_with_parent() -> None:
    """Have this process killed when the one that started it is gone."""
    _must("prctl", _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def own_namespaces() -> None:
    """Leave the warm process's namespaces: the next fork is the first process of new ones.

    As an ordinary user a new user namespace comes first, which gives the right to the others
    and in which this hand-in's processes are counted by themselves.
    """
    user, group = os.getuid(), os.getgid()
    if user:
        _must("unshare", _libc.unshare(CLONE_NEWUSER))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _must("unshare", _libc.unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC))


def give_up_rights(confined: bool, user: int) -> None:
    """Confine this process and all it will ever start.

    Parameters
    ----------
    confined : whether the sandbox is there; without it only limits are set
    user : who to be, when this is root
    """
    if confined:
        _mount()
        for capability in range(LAST_CAPABILITY + 1):
            _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        if os.getuid() == 0:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        _drop_capabilities()
    die_with_parent()  # after the change of user, which would undo it
    os.umask(0o077)
    os.chdir(HOME if confined else os.environ["HOME"])
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for what, most in (
        (resource.RLIMIT_AS, in_use + MEMORY),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        *([(resource.RLIMIT_NPROC, PROCESSES)] if confined else []),
    ):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # too large a file is an error, not the end
    _must("prctl", _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    if confined:
        _filter_calls()


def _mount() -> None:
    """Give the hand-in empty places to write in, and a /proc that shows only itself."""
    none = ctypes.c_char_p(None)
    _must("mount", _libc.mount(none, b"/", none, MS_REC | MS_PRIVATE, none))
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    _must("mount", _libc.mount(b"proc", b"/proc", b"proc", flags, none))
    for place in (HOME, "/dev/shm"):
        how = f"size={DISK},nr_inodes={FILES},mode=1777".encode()
        _must("mount", _libc.mount(b"tmpfs", place.encode(), b"tmpfs", flags, how))


def _drop_capabilities() -> None:
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    none = (ctypes.c_uint32 * 6)()
    _must("capset", _libc.capset(ctypes.byref(header), ctypes.byref(none)))


def _filter_calls() -> None:
    calls = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    refuse = pyseccomp.ERRNO(errno.EPERM)
    for name in FORBIDDEN.split():
        try:
            calls.add_rule(refuse, name)
        except (ValueError, OSError, RuntimeError):  # a call this kernel's library does not know
            continue
    for flag in (CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWIPC):
        calls.add_rule(refuse, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    # clone3 hides its flags from filters: C libraries fall back to clone when it is missing.
    calls.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    calls.load()


def _must(what: str, result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if sys.platform != "linux":  # pragma: no cover
    raise ImportError("hand-ins are confined on Linux only")
