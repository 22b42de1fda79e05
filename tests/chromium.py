"""The browser that tests look at pictures with: a Chromium of the system, led by playwright."""

from __future__ import annotations

import importlib.util
import shutil

import pytest

from tests.conftest import REQUIRED

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for found in map(shutil.which, NAMES) if found), None)
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def why_no_browser() -> str:
    """Say what is missing; empty when nothing."""
    if BROWSER is None:
        return "no Chromium: apt-get install chromium"
    if importlib.util.find_spec("playwright") is None:
        return "no playwright: pip install playwright"
    return ""


WHY = why_no_browser()
needs_browser = pytest.mark.skipif(bool(WHY) and not REQUIRED, reason=WHY)
