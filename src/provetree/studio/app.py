"""The server of the studio: JSON over HTTP, and news as server-sent events.

News flow one way, from the session to the pages, and wishes are rare. So events over plain HTTP do:
they need no further package, and a page that lost its connection asks again and has the whole state
at once. The page reads them with ``fetch``, which can send the token as a header.
"""

from __future__ import annotations

import asyncio
import json
import math
import queue
import secrets
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from provetree.studio.guard import Guard
from provetree.studio.jobs import Cancelled, Job
from provetree.studio.saving import SAVED
from provetree.studio.session import Session
from provetree.studio.views import (
    compare_view,
    node_view,
    other_view,
    state_view,
    table_view,
    version_view,
)
from provetree.studio.wishes import WishError

__all__ = ["Holder", "make_app"]

#: Seconds between two looks at the session, between two signs of life, and between two looks at
#: the file.
_LOOK, _ALIVE, _FILE = 0.05, 5.0, 2.0


class Holder:
    """What a server serves: a session, and whether it is about to stop."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.closing = False
        self.file_changed = False
        self._looked = 0.0

    def look_at_file(self) -> None:
        """See now and then whether the file of the table holds something else."""
        now, source = time.monotonic(), self.session.table.source
        if source is None or self.file_changed or now - self._looked < _FILE:
            return
        self._looked = now
        self.file_changed = source.has_changed()


def make_app(holder: Holder, *, port: int, token: str) -> Guard:
    """Return the guarded application of a session."""
    routes = [
        Route("/", lambda request: _page()),
        Route("/api/table", _asks(holder, lambda s, q: table_view(s.table))),
        Route("/api/state", _asks(holder, lambda s, q: _state(holder, None)[0])),
        Route(
            "/api/version",
            _asks(holder, lambda s, q: version_view(s, s.version(_whole(q, "number")))),
        ),
        Route("/api/node", _asks(holder, _node)),
        Route("/api/compare", _asks(holder, _compare)),
        Route("/api/others", partial(_others, holder)),
        Route("/api/events", partial(_events, holder)),
        Route("/api/save/{what}", partial(_save, holder)),
        *(
            Route(f"/api/{name}", _tells(holder, act), methods=["POST"])
            for name, act in _ACTS.items()
        ),
    ]
    return Guard(Starlette(routes=routes), port=port, token=token)


#: What a page can ask a session to do.
_ACTS: dict[str, Callable[[Session, dict[str, Any]], Any]] = {
    "wish": lambda session, given: {"version": session.wish(given)},
    "go": lambda session, given: session.go(given.get("version")),  # type: ignore[arg-type]
    "undo": lambda session, given: session.undo(),
    "rename": lambda session, given: session.rename(given.get("version"), given.get("name")),  # type: ignore[arg-type]
    "search-on": lambda session, given: session.search_on(given.get("version")),  # type: ignore[arg-type]
}


def _page() -> Any:
    """Return the page, with scripts and styles that bear its nonce; nothing else may run."""
    nonce = secrets.token_urlsafe(18)
    parts = {
        "style": _text("provetree.report", "report.css") + _text("provetree.studio", "studio.css"),
        "script": _text("provetree.studio", "studio.js"),
        "nonce": nonce,
    }
    page = _text("provetree.studio", "studio.html")
    for name, part in parts.items():
        page = page.replace("{{" + name + "}}", part)
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return HTMLResponse(page, headers={"content-security-policy": policy})


def _text(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _answer(data: Any) -> Any:
    return Response(_json(data), media_type="application/json")


def _json(data: Any) -> str:
    """Return JSON as browsers read it: infinite and missing numbers are null."""
    return json.dumps(_finite(data), allow_nan=False)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _fault(error: Exception) -> Any:
    return JSONResponse({"fault": str(error)}, status_code=400)


def _asks(holder: Holder, view: Callable[[Session, Any], Any]) -> Any:
    async def answer(request: Any) -> Any:
        try:
            return _answer(await run_in_threadpool(view, holder.session, request.query_params))
        except WishError as error:
            return _fault(error)

    return answer


def _tells(holder: Holder, act: Callable[[Session, dict[str, Any]], Any]) -> Any:
    async def answer(request: Any) -> Any:
        try:
            given = json.loads(await request.body())
            if not isinstance(given, dict):
                raise WishError("A request must be a JSON object.")
            return _answer(await run_in_threadpool(act, holder.session, given) or {})
        except WishError as error:
            return _fault(error)
        except (json.JSONDecodeError, UnicodeDecodeError):
            return _fault(WishError("A request must be a JSON object."))

    return answer


def _whole(query: Any, name: str) -> int:
    given = query.get(name, "")
    if not given.isascii() or not given.isdigit() or len(given) > 9:
        raise WishError(f"'{name}' must be a whole number. Got {given[:40]!r}.")
    return int(given)


def _node(session: Session, query: Any) -> Any:
    return node_view(session, _whole(query, "version"), query.get("path"))


def _compare(session: Session, query: Any) -> Any:
    return compare_view(session, _whole(query, "one"), _whole(query, "two"))


def _state(holder: Holder, known: Any) -> tuple[dict[str, Any], Any]:
    """Return the state, with its tree unless that is the one which is known; and its tree."""
    session = holder.session
    holder.look_at_file()
    with session.locked():
        state = state_view(session)
        state["fileChanged"] = holder.file_changed
        shown = session.shown()
        tree = shown.number, shown.tree
    if known is None or known[0] != tree[0] or known[1] is not tree[1]:
        state["tree"] = version_view(session, shown)
    return state, tree


async def _events(holder: Holder, request: Request) -> Any:
    """Stream the state of the session whenever it has changed."""

    async def stream() -> AsyncIterator[str]:
        revision, alive, changed = -1, time.monotonic(), holder.file_changed
        known: Any = None
        while not holder.closing:
            session = holder.session
            if session.revision != revision or holder.file_changed != changed:
                revision, changed = session.revision, holder.file_changed
                state, known = await run_in_threadpool(_state, holder, known)
                alive = time.monotonic()
                yield f"data: {_json(state)}\n\n"
            elif time.monotonic() - alive > _ALIVE:
                await run_in_threadpool(holder.look_at_file)
                alive = time.monotonic()
                yield ": alive\n\n"
            await asyncio.sleep(_LOOK)

    return StreamingResponse(stream(), media_type="text/event-stream")


async def _others(holder: Holder, request: Request) -> Any:
    """Stream the other splits of a node, one JSON object a line, until nobody listens."""
    session, query = holder.session, request.query_params
    found: queue.SimpleQueue[Any] = queue.SimpleQueue()
    try:
        number = _whole(query, "version")
        only = session.table.column(_whole(query, "column")) if "column" in query else None
    except WishError as error:
        return _fault(error)

    def work(job: Job) -> None:
        try:
            floor = bool(session.version(number).wishes.directions)
            for other in session.others(number, query.get("path"), job, only):
                found.put(other_view(session.table, other, floor=floor))
            found.put(None)
        except WishError as error:
            found.put({"fault": str(error)})
            found.put(None)
        except Cancelled:
            found.put(None)
            raise
        except Exception:
            found.put({"fault": "This could not be worked out."})
            found.put(None)
            raise

    async def stream() -> AsyncIterator[str]:
        job = Job(work, "studio others").start()
        try:
            while not holder.closing:
                try:
                    item = found.get_nowait()
                except queue.Empty:
                    await asyncio.sleep(_LOOK / 2)
                    continue
                if item is None:
                    return
                yield _json(item) + "\n"
        finally:
            job.cancel()

    return StreamingResponse(stream(), media_type="application/x-ndjson")


async def _save(holder: Holder, request: Request) -> Any:
    """Return a version as a file: the model, its report, or Python code."""
    what = request.path_params["what"]
    if what not in SAVED:
        return _fault(WishError(f"There is nothing to save as {what[:40]!r}."))
    try:
        number = _whole(request.query_params, "version")
        text = await run_in_threadpool(SAVED[what].text, holder.session, number)
    except (WishError, ValueError) as error:
        return _fault(error)
    return Response(text, media_type=SAVED[what].media_type)
