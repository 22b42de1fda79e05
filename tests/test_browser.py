"""An explorer's way through `explore_heatmaps`: JupyterLab in a browser, nothing from outside."""

from __future__ import annotations

import ast
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from grader.markers import read_reading
from tests.chromium import BROWSER, QUIET, needs_browser
from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Locator, Page, Response

NOTEBOOK = ROOT / "notebooks" / "explore_heatmaps.ipynb"
LOOPBACK = "127.0.0.1"
SECONDS = 120  # what a step may take on a machine that has much else to do

# Files of JupyterLab's settings. nbgrader is left out: it takes longer to load than all the rest.
NBGRADER = ("formgrader", "validate_assignment", "assignment_list", "course_list")
LAB = "settings/@jupyterlab"
SETTINGS = {
    f"{LAB}/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    f"{LAB}/notebook-extension/tracker.jupyterlab-settings": {
        "windowingMode": "none",  # cells out of sight are in the page too
    },
    "config/labconfig/page_config.json": {"disabledExtensions": {"@jupyter/nbgrader": True}},
    "config/jupyter_server_config.json": {
        "ServerApp": {
            "ip": LOOPBACK,
            "allow_root": True,  # as in a container
            "open_browser": False,
            "jpserver_extensions": {f"nbgrader.server_extensions.{n}": False for n in NBGRADER},
        },
        "IdentityProvider": {"token": ""},
        "LabApp": {"extension_manager": "readonly"},  # the other one asks a package index
    },
}

# Every code cell has been run, or one has raised and the rest was left alone.
SETTLED = """() => {
    const cells = [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')];
    const run = cell => /^\\[\\d+\\]:$/.test(
        cell.querySelector('.jp-InputPrompt').textContent.trim());
    const raised = '[data-mime-type="application/vnd.jupyter.error"]';
    return cells.every(run) || document.querySelector(raised) !== null;
}"""
IDLE = "Python 3 (ipykernel) | Idle"  # in the status bar; it says Unknown before there is a kernel
RAISED = '.jp-Notebook [data-mime-type="application/vnd.jupyter.error"]'
CONTROLS = "[role=slider], input[type=checkbox]"


@contextmanager
def jupyter_lab(folder: Path, home: Path) -> Iterator[str]:
    """Serve a folder in JupyterLab with settings of its own, and yield where."""
    for name, values in SETTINGS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(json.dumps(values), encoding="utf-8")
    places = {f"JUPYTER_{name}_DIR": name.lower() for name in ("CONFIG", "DATA", "RUNTIME")}
    places |= {"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces"}
    env = os.environ | {name: str(home / place) for name, place in places.items()}
    env["IPYTHONDIR"] = str(home / "ipython")
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.port={port}", str(folder)]
    log = home / "log"
    with log.open("wb") as said:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=said, stderr=said)
    try:
        yield wait_for_server(server, home / "runtime", log)
    finally:
        server.terminate()  # it ends its kernels on the way
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_for_server(server: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """Return the address of a server once it answers; it may have had to take another port."""
    last = time.monotonic() + SECONDS
    while time.monotonic() < last and server.poll() is None:
        for about in runtime.glob("jpserver-*.json"):
            try:
                url = str(json.loads(about.read_text(encoding="utf-8"))["url"])
                with urlopen(f"{url}api/status", timeout=SECONDS):
                    return url
            except (OSError, ValueError):
                pass  # written or answering in a moment
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")


@contextmanager
def watched_page() -> Iterator[tuple[Page, list[str]]]:
    """Yield an empty page, and a list that fills with whatever should not happen in it."""
    from playwright.sync_api import sync_playwright

    wrong: list[str] = []

    def reach(url: str) -> None:
        if urlsplit(url).hostname not in (None, LOOPBACK):  # data: and blob: have no host
            wrong.append(f"asks another host: {url}")

    def answered(response: Response) -> None:
        if response.status >= 400:
            wrong.append(f"{response.status} {response.url}")

    def written(message: ConsoleMessage) -> None:
        if message.type == "error":
            wrong.append(f"console: {message.text}")

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=list(QUIET))
        try:
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.set_default_timeout(SECONDS * 1000)
            page.on("request", lambda request: reach(request.url))
            page.on("websocket", lambda opened: reach(opened.url))
            page.on("response", answered)
            page.on("console", written)
            page.on("pageerror", lambda error: wrong.append(f"page error: {error}"))
            yield page, wrong
        finally:
            browser.close()


def run_all(page: Page) -> None:
    page.get_by_text(IDLE).wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_function(SETTLED)
    assert page.locator(RAISED).all_inner_texts() == []
    page.get_by_text(IDLE).wait_for()


def label_of(control: Locator) -> str:
    """Read the words beside a control."""
    row = control.locator("xpath=ancestor::*[contains(@class, 'widget-inline-hbox')][1]")
    return "".join(row.locator("label").all_inner_texts()).strip("\u200b ")


def keys_of(control: Locator) -> tuple[str, str]:
    """Say which key changes a control, and which one changes it back."""
    if control.get_attribute("type") == "checkbox":
        return "Space", "Space"
    top = control.get_attribute("aria-valuenow") == control.get_attribute("aria-valuemax")
    return ("ArrowLeft", "ArrowRight") if top else ("ArrowRight", "ArrowLeft")


@needs_browser
def test_an_explorer_moves_every_slider_and_sees_the_picture_change(tmp_path: Path) -> None:
    folder = tmp_path / "explored"
    folder.mkdir()
    shutil.copy(NOTEBOOK, folder)
    export = [sys.executable, "-m", "attnlab", "export", "source", "--to", folder / "attention.py"]
    subprocess.run(export, cwd=ROOT, check=True, capture_output=True, timeout=SECONDS)
    moved = []
    with jupyter_lab(folder, tmp_path) as url, watched_page() as (page, wrong):
        page.goto(f"{url}lab/tree/{NOTEBOOK.name}")
        run_all(page)
        for view in page.locator(".widget-interact").all():
            picture = view.locator("figure img")
            for control in view.locator(CONTROLS).all():
                moved.append(label_of(control))
                before = picture.get_attribute("src")
                there, back = keys_of(control)
                control.press(there)
                picture.and_(page.locator(f":not([src='{before}'])")).wait_for()
                control.press(back)
                picture.and_(page.locator(f"[src='{before}']")).wait_for()
        assert page.locator(RAISED).all_inner_texts() == []
        printed = "".join(page.locator(".jp-Notebook .jp-OutputArea-output").all_inner_texts())
        assert printed.count(f"your own functions, from {folder / 'attention.py'}") == 2
        assert printed.count("the same as the given one") == 4
        assert wrong == []
    assert all(moved), f"a control without a label: {moved}"
    assert len(moved) == 12
    assert {"head", "temperature", "d_k", "shuffle"} <= set(moved)
    assert sorted(path.name for path in (folder / "pictures").iterdir()) == [
        "head_view.svg",
        "specialist.png",
        "specialist.svg",
    ]


@pytest.fixture(scope="module")
def defined() -> dict[str, Any]:
    """What the notebook defines, without the pictures it draws."""
    names: dict[str, Any] = {}
    for cell in read_reading(ROOT / "course" / "explore_heatmaps.py").cells:
        if cell.kind == "code":
            tree = ast.parse(cell.source)
            tree.body = [statement for statement in tree.body if defines(statement)]
            exec(compile(tree, f"line {cell.line}", "exec"), names)
    return names


def defines(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return isinstance(name := statement.targets[0], ast.Name) and name.id in DATA
    return isinstance(
        statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Try)
    )


DATA = ("given", "FEATURES", "D_MODEL", "WORDS")


@pytest.mark.parametrize(
    ("text", "said", "drawn"),
    [
        ("", "two words or more", False),
        (" \t\n", "two words or more", False),
        ("alone", "two words or more", False),
        ("word " * 40, "You wrote 40 tokens; the first 16 are drawn", True),
        ("no no no no", "", True),
        ("cruzó cruzo\u0301 CRUZÓ", "", True),
        ("¿Qué? don't ____ $x$ \\ ` <b> 日本 🙂", "", True),
        ("w" * 300 + " " + "v" * 300, "", True),
    ],
    ids=["empty", "blanks", "one", "forty", "repeated", "accents", "signs", "long"],
)
def test_any_sentence_gets_a_picture_or_a_sentence(
    text: str, said: str, drawn: bool, defined: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    found = defined["explore"](text)
    printed = capsys.readouterr().out
    assert said in printed if said else not printed
    assert ("<figcaption>" in found.data) if drawn else found is None


def test_accents_are_one_word_however_they_were_typed(defined: dict[str, Any]) -> None:
    tokens, x = defined["sentence"]("cruzó cruzo\u0301 cruzo")
    assert tokens == ["cruzó", "cruzó", "cruzo"]
    assert (x[0] == x[1]).all()
    assert (x[0] != x[2]).any()


def test_an_unknown_word_has_the_same_numbers_everywhere_and_none_but_its_spelling(
    defined: dict[str, Any],
) -> None:
    _, x = defined["sentence"]("zebra he zebra quagga")
    _, again = defined["sentence"]("a zebra")
    assert (x[0] == x[2]).all()
    assert (x[0] == again[1]).all()
    assert not x[[0, 3], :-3].any()
    assert (x[0] != x[3]).any()
