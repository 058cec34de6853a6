"""A headless Chromium for the tests, or the reason why there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: What a page may take on a busy machine, in seconds; far more than on an idle one.
SECONDS = 300.0

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def why_not() -> str | None:
    """The reason why browser tests cannot run here, if there is one."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "the playwright package is not installed"
    if find() is None:
        return "no Chromium was found (Debian: apt-get install chromium)"
    return None


def find() -> str | None:
    named = os.environ.get("PROVETREE_CHROMIUM")
    return named or next((path for name in _NAMES if (path := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=["--no-sandbox"])
        new_page = browser.new_page

        def patient_page(**settings: Any) -> Any:
            page = new_page(**settings)
            page.set_default_timeout(1000 * SECONDS)
            return page

        browser.new_page = patient_page
        try:
            yield browser
        finally:
            browser.close()
