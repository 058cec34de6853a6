"""The server of the studio: who is let in, what it answers, and what it refuses."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provetree import OptimalTreeClassifier
from provetree.studio import Studio, studio
from provetree.studio.serve import open_studio
from provetree.studio.session import Session
from provetree.studio.session_file import SessionFileError
from provetree.studio.table import Source, StudioTable
from provetree.studio.wishes import Wishes
from testkit.studio_cases import NASTY, done, hard_table, small_table

testclient = pytest.importorskip("starlette.testclient")

PORT, TOKEN = 8765, "a-token"
HOME = f"http://127.0.0.1:{PORT}"
KEY = {"x-studio-token": TOKEN}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    found = Session(small_table(), Wishes(max_depth=2))
    done(found, figures=True)
    yield found
    found.close()


@pytest.fixture
def client(session: Session) -> Any:
    from provetree.studio.app import Holder, make_app

    app = make_app(Holder(session), port=PORT, token=TOKEN)
    return testclient.TestClient(app, base_url=HOME)


def test_the_page_needs_its_token(client: Any) -> None:
    assert client.get(f"/?token={TOKEN}").status_code == 200
    for address in ("/", "/?token=", "/?token=wrong", f"/?token={TOKEN}x", "/?token=é"):
        answer = client.get(address)
        assert answer.status_code == 403
        assert "whole address" in answer.text
        assert TOKEN not in answer.text


@pytest.mark.parametrize(
    "path",
    ["table", "state", "events", "version?number=1", "node", "others", "compare", "save/model"],
)
def test_nothing_answers_without_the_token(client: Any, path: str) -> None:
    assert client.get(f"/api/{path}").status_code == 403
    assert client.get(f"/api/{path}", headers={"x-studio-token": "wrong"}).status_code == 403
    # The token in the address opens the page alone, so that no link can do anything.
    assert client.get(f"/api/{path}?token={TOKEN}").status_code == 403


@pytest.mark.parametrize("name", ["wish", "go", "undo", "rename", "search-on"])
def test_nothing_is_done_without_the_token(client: Any, name: str) -> None:
    assert client.post(f"/api/{name}", json={"version": 1}).status_code == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", "0.0.0.0"],
)
def test_other_hosts_are_refused(client: Any, host: str) -> None:
    """A page elsewhere may let its own name point to this machine."""
    answer = client.get(f"/?token={TOKEN}", headers={"host": host})
    assert answer.status_code == 403
    assert "on this machine only" in answer.text


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"http://localhost:{PORT}"])
def test_other_origins_are_refused(client: Any, origin: str) -> None:
    answer = client.post("/api/undo", json={}, headers={**KEY, "origin": origin})
    assert answer.status_code == 403
    assert "other pages" in answer.text
    assert client.get("/api/state", headers={**KEY, "origin": origin}).status_code == 403


def test_its_own_page_is_answered(client: Any) -> None:
    headers = {**KEY, "origin": HOME, "sec-fetch-site": "same-origin"}
    assert client.get("/api/state", headers=headers).status_code == 200
    headers["sec-fetch-site"] = "cross-site"
    assert client.get("/api/state", headers=headers).status_code == 403


def test_forms_of_other_pages_cannot_be_sent(client: Any) -> None:
    """What a browser sends without asking first has another content type than JSON."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        headers = {**KEY, "content-type": kind}
        assert client.post("/api/undo", content="{}", headers=headers).status_code == 403
    for method in ("put", "delete", "options", "patch"):
        assert getattr(client, method)("/api/undo", headers=KEY).status_code == 403


def test_large_and_damaged_requests_are_refused(client: Any) -> None:
    headers = {**KEY, "content-type": "application/json"}
    assert client.post("/api/wish", content=b" " * 70000, headers=headers).status_code == 403
    for content in (b"", b"{", b"[1]", b"\xff\xfe", b"7"):
        answer = client.post("/api/wish", content=content, headers=headers)
        assert answer.status_code == 400
        assert answer.json()["fault"] == "A request must be a JSON object."


def test_the_page_lets_nothing_else_run(client: Any) -> None:
    first, second = (client.get(f"/?token={TOKEN}") for _ in range(2))
    policy = first.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'nonce-")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert policy != second.headers["content-security-policy"]  # a nonce is used once
    for name, value in (
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    ):
        assert first.headers[name] == value
    assert "{{" not in first.text
    assert "http://" not in first.text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in first.text


def test_names_of_the_table_are_data(client: Any) -> None:
    table = client.get("/api/table", headers=KEY).json()
    assert table["columns"][0]["name"] == NASTY
    svg = client.get("/api/version?number=1", headers=KEY).json()["svg"]
    assert "<img" not in svg
    assert "<script" not in svg
    page = client.get(f"/?token={TOKEN}").text
    assert "onerror" not in page


@pytest.mark.parametrize(
    "address",
    [
        "version?number=99",
        "version?number=x",
        "version",
        "version?number=-1",
        "version?number=" + "9" * 5000,
        "node?version=1&path=LLLL",
        "node?version=1",
        "compare?one=1&two=77",
        "save/malware?version=1",
        "save/model?version=99",
        "others?version=1&path=&column=99",
    ],
)
def test_bad_questions_get_a_sentence(client: Any, address: str) -> None:
    answer = client.get(f"/api/{address}", headers=KEY)
    assert answer.status_code == 400
    fault = answer.json()["fault"]
    assert fault[0].isupper() or fault[0] == "'"
    assert fault.endswith(".")


def test_bad_wishes_get_a_sentence(client: Any, session: Session) -> None:
    for step in ({}, {"do": None}, {"do": "forbid"}, {"do": "forbid", "column": True}):
        answer = client.post("/api/wish", json=step, headers=KEY)
        assert answer.status_code == 400
        assert answer.json()["fault"].endswith(".")
    for name, given in (("go", {"version": [1]}), ("rename", {"version": 1, "name": 5})):
        assert client.post(f"/api/{name}", json=given, headers=KEY).status_code == 400
    assert list(session.versions) == [1]


def test_other_splits_come_one_by_one(client: Any) -> None:
    answer = client.get("/api/others?version=1&path=", headers=KEY)
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert found[0]["split"] == {"leaf": True}
    assert {other["column"] for other in found[1:]} == {0, 1, 2, 3}
    assert all(other["proven"] for other in found)
    alone = client.get("/api/others?version=1&path=&column=1", headers=KEY)
    assert [json.loads(line)["column"] for line in alone.text.splitlines()] == [1]


def test_saved_files(client: Any) -> None:
    model = client.get("/api/save/model?version=1", headers=KEY)
    assert model.json()["format"] == "provetree-model"
    assert client.get("/api/save/report?version=1", headers=KEY).text.startswith("<!doctype html>")
    assert "OptimalTreeClassifier(" in client.get("/api/save/code?version=1", headers=KEY).text


# -- a real server


def asked(opened: Studio, path: str, **headers: str) -> Any:
    line = http.client.HTTPConnection("127.0.0.1", opened.port, timeout=300)
    line.request("GET", path, headers={"X-Studio-Token": opened.token, **headers})
    answer = line.getresponse()
    body = answer.read()
    line.close()
    return answer.status, body


def test_a_real_server_starts_and_stops() -> None:
    table = small_table()
    clf = OptimalTreeClassifier(max_depth=2)
    with studio(clf, table.train, table.y_train, open_browser=False) as opened:
        done(opened.session)
        assert asked(opened, "/api/state")[0] == 200
        assert asked(opened, "/api/state", Host="evil.example")[0] == 403
        assert opened.classifier.objective_ == clf.fit(table.train, table.y_train).objective_
        assert opened.url in opened._repr_html_()
        assert opened._socket.getsockname()[0] == "127.0.0.1"
        port = opened.port
    with pytest.raises(ConnectionError):
        http.client.HTTPConnection("127.0.0.1", port, timeout=300).request("GET", "/")


def test_an_open_stream_does_not_keep_the_server() -> None:
    opened, _ = open_studio(hard_table(), Wishes(max_depth=5))
    line = http.client.HTTPConnection("127.0.0.1", opened.port, timeout=300)
    line.request("GET", "/api/events", headers={"X-Studio-Token": opened.token})
    answer = line.getresponse()
    assert answer.readline().startswith(b"data: {")
    opened.stop()
    assert not opened._thread.is_alive()
    line.close()


def test_a_session_goes_on_at_the_same_address(tmp_path: Path) -> None:
    table, file = small_table(), tmp_path / "s.json"
    first, note = open_studio(table, Wishes(max_depth=1), session_file=file)
    assert note is None
    done(first.session, figures=True)
    with pytest.raises(SessionFileError, match="is open already, at http"):
        open_studio(table, session_file=file)
    first.stop()
    second, note = open_studio(table, session_file=file)
    assert note is not None
    assert "1 version" in note
    assert second.url == first.url
    assert second.session.shown() == first.session.shown()
    second.stop()
    # Another table does not take the versions of this one, and does not lose them either.
    third, note = open_studio(small_table(120), Wishes(max_depth=1), session_file=file)
    assert note is not None
    assert "s.1.json" in note
    assert (tmp_path / "s.1.json").exists()
    assert third.token != first.token
    third.stop()


def test_a_file_that_changes_is_pointed_out(tmp_path: Path) -> None:
    from provetree.studio.app import Holder, make_app

    path = tmp_path / "data.csv"
    path.write_text("a,y\n1,no\n2,yes\n")
    table = StudioTable([[1.0], [2.0]], ["no", "yes"], source=Source.of(path))
    session = Session(table, Wishes(max_depth=1))
    done(session)
    holder = Holder(session)
    client = testclient.TestClient(make_app(holder, port=PORT, token=TOKEN), base_url=HOME)
    assert client.get("/api/state", headers=KEY).json()["fileChanged"] is False
    path.write_text("a,y\n1,no\n2,no\n")
    holder._looked = 0.0
    assert client.get("/api/state", headers=KEY).json()["fileChanged"] is True
    session.close()
