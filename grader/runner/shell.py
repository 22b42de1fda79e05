"""An IPython shell without a kernel that keeps what each cell puts out as a kernel would."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from zlib import crc32

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

MOST_TEXT = 200_000  # characters of one cell's outputs, text of errors included
MOST_DATA = 4_000_000  # characters of one cell's displayed data, pictures included
MOST_OUTPUTS = 500  # of one cell
INLINE = "module://matplotlib_inline.backend_inline"
CUT = "\n… the rest of this cell's output was cut off.\n"


class Outputs:
    """The outputs of the cell that runs, in nbformat's form, within a budget."""

    count = 0  # of the cells that were begun

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin a cell."""
        self.count += 1
        self.clear()

    def clear(self) -> None:
        """Forget what was put out so far, as `clear_output` asks."""
        self.found: list[dict[str, Any]] = []
        self._text = MOST_TEXT
        self._data = MOST_DATA

    def _add(self, output: dict[str, Any]) -> None:
        if len(self.found) == MOST_OUTPUTS:
            output = {"output_type": "stream", "name": "stdout", "text": CUT}
        if len(self.found) <= MOST_OUTPUTS:
            self.found.append(output)

    def stream(self, name: str, text: str) -> None:
        """Add printed text; what is printed in one go is one output."""
        if self._text <= 0:
            return
        self._text -= len(text)
        text = text if self._text > 0 else text[: self._text or None] + CUT
        last = self.found[-1] if self.found else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"] += text
        else:
            self._add({"output_type": "stream", "name": name, "text": text})

    def data(self, data: dict[str, Any], metadata: dict[str, Any], result: bool) -> None:
        """Add displayed data, or the value of the cell's last line."""
        self._data -= len(repr(data))
        if self._data <= 0:
            data, metadata = {"text/plain": CUT.strip()}, {}
        output: dict[str, Any] = {"output_type": "display_data"}
        if result:
            output = {"output_type": "execute_result", "execution_count": self.count}
        output |= {"data": data, "metadata": metadata}
        self._add(output)

    def error(self, name: str, value: str, traceback: list[str]) -> None:
        """Add an error."""
        self._text -= sum(map(len, traceback))
        lines = traceback if self._text > 0 else [CUT]
        self._add(
            {"output_type": "error", "ename": name, "evalue": value[:2000], "traceback": lines}
        )


class Stream(io.TextIOBase):
    """What stands for stdout or stderr while a cell runs."""

    encoding = "utf-8"

    def __init__(self, name: str, outputs: Outputs) -> None:
        self.name = name
        self._outputs = outputs

    def write(self, text: str) -> int:
        """Keep a text."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.stream(self.name, text)
        return len(text)

    def writable(self) -> bool:
        """Say that one can write to it."""
        return True


class Publisher(DisplayPublisher):
    """Keeps what `display` is given."""

    shell: Any

    def publish(self, data: Any, metadata: Any = None, source: Any = None, **_: Any) -> None:
        """Keep displayed data."""
        self.shell.outputs.data(data, metadata or {}, result=False)

    def clear_output(self, wait: bool = False) -> None:
        """Forget what the cell has put out."""
        self.shell.outputs.clear()


class Hook(DisplayHook):
    """Keeps the value of a cell's last line."""

    shell: Any

    def write_output_prompt(self) -> None:
        """Print no prompt."""

    def write_format_data(
        self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None
    ) -> None:
        """Keep a result."""
        self.shell.outputs.data(format_dict, md_dict or {}, result=True)

    def finish_displayhook(self) -> None:
        """Print no line after it."""


class Compiler(CachingCompiler):
    """Names cells as a kernel does: after files that are not there. Tracebacks depend on it."""

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        """Name a cell's code."""
        return f"/tmp/ipykernel_1/{crc32(raw_code.encode(errors='replace'))}.py"


class Shell(InteractiveShell):
    """The shell in which hand-ins run."""

    def __init__(self, **how: Any) -> None:
        self.outputs = Outputs()
        super().__init__(
            display_pub_class=Publisher, displayhook_class=Hook, compiler_class=Compiler, **how
        )

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        self.outputs.error(getattr(etype, "__name__", str(etype)), _text_of(evalue), stb)

    def draw_inline(self) -> None:
        """Show figures in the cells that make them, as a kernel does."""
        import matplotlib.pyplot as plt
        from matplotlib_inline.backend_inline import configure_inline_support

        plt.switch_backend(INLINE)
        configure_inline_support(self, INLINE)

    def enable_gui(self, gui: Any = None) -> None:
        """Open no window."""

    def enable_matplotlib(self, gui: Any = None) -> Any:
        """Leave the choice of drawing to whoever grades."""
        return gui, "agg"


def new_shell() -> Shell:
    """Make the shell; no history is written anywhere."""
    config = Config()
    config.HistoryManager.enabled = False
    shell: Shell = Shell.instance(config=config)
    return shell


@contextmanager
def captured(shell: Shell) -> Iterator[list[dict[str, Any]]]:
    """Let what is printed count as the outputs of one cell, and yield the list of them."""
    import sys

    shell.outputs.start()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Stream("stdout", shell.outputs), Stream("stderr", shell.outputs)
    try:
        yield shell.outputs.found
    finally:
        sys.stdout, sys.stderr = before


def _text_of(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # a learner's own error class may fail at this
        return ""
