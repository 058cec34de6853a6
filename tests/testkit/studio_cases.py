"""Tables and sessions for the tests of the studio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from provetree.studio.session import Session
from provetree.studio.table import StudioTable

# Names that would break a page put together carelessly.
NASTY = "age </script><img src=x onerror=alert(1)>&\"'"


def frame(n: int, seed: int) -> tuple[pd.DataFrame, Any]:
    """A small table with a nasty name, categories and missing values."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    income = np.round(rng.lognormal(8, 0.5, n))
    port = rng.choice(["S", "C", "<b>Q</b>"], n)
    y = np.where((age > 40) ^ (port == "C"), "yes", "<i>no</i>")
    y = np.where(rng.random(n) < 0.1, "yes", y)
    found = pd.DataFrame({NASTY: age, "income": income, "port": port.astype(object)})
    found["noise"] = rng.integers(0, 9, n).astype(float)
    found.loc[rng.random(n) < 0.1, NASTY] = np.nan
    found.loc[rng.random(n) < 0.1, "port"] = None
    return found, y


def small_table(n: int = 160) -> StudioTable:
    X, y = frame(n, 0)
    X_test, y_test = frame(60, 1)
    return StudioTable(X, y, X_test, y_test, target="answer")


def hard_table() -> StudioTable:
    """Noise on which no search of depth five ends within the time of a test."""
    rng = np.random.default_rng(0)
    return StudioTable(rng.normal(size=(2000, 12)), rng.integers(0, 2, 2000))


def done(session: Session, *, figures: bool = False) -> Any:
    """Wait for the current version and return it."""
    return session.wait_for_proof(600.0, figures=figures)
