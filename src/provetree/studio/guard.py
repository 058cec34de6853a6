"""Keeps everybody else out: other machines, other pages of the browser, and who has no token.

The server listens on this machine alone. A page from elsewhere could still make the browser ask it,
also under a name that it lets point here, so the host, the origin and the token of every request
are looked at. There are no cookies: what a browser sends by itself opens nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

__all__ = ["TOKEN_HEADER", "Guard", "refusal"]

TOKEN_HEADER = "x-studio-token"

_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
#: More than any wish needs.
_MOST_BYTES = 65536

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


def refusal(
    method: str, path: str, query: str, headers: Mapping[str, str], port: int, token: str
) -> str | None:
    """Return why a request is refused, or None.

    Examples
    --------
    >>> from provetree.studio.guard import refusal
    >>> refusal("GET", "/", "token=t", {"host": "127.0.0.1:80"}, 80, "t")
    >>> refusal("GET", "/", "token=t", {"host": "evil.example:80"}, 80, "t")
    'The studio answers on this machine only, at 127.0.0.1:80.'
    """
    hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
    host, origin = headers.get("host", ""), headers.get("origin")
    if host not in hosts:
        return f"The studio answers on this machine only, at {hosts[0]}."
    if origin is not None and origin != f"http://{host}":
        return "The studio does not answer other pages."
    is_page = path == "/" and method == "GET"
    if not is_page and headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return "The studio does not answer other pages."
    given = parse_qs(query).get("token", [""])[0] if is_page else headers.get(TOKEN_HEADER, "")
    if not secrets.compare_digest(given.encode(), token.encode()):
        return "This needs the whole address that 'provetree studio' printed, token and all."
    if method == "POST":
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return "The studio takes JSON only."
        length = headers.get("content-length", "")
        if not length.isdigit() or int(length) > _MOST_BYTES:
            return f"A request must say its length, at most {_MOST_BYTES} bytes."
    elif method not in ("GET", "HEAD"):
        return "The studio takes GET and POST only."
    return None


class Guard:
    """A layer around an application that refuses requests, and adds headers to all answers."""

    def __init__(self, app: Any, *, port: int, token: str) -> None:
        self.app, self.port, self.token = app, port, token

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets here
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key = name.decode("latin-1").lower()
            # A header that is there twice is taken for one that is wrong.
            headers[key] = value.decode("latin-1") if key not in headers else "?"
        query = scope.get("query_string", b"").decode("latin-1")
        why = refusal(scope["method"], scope["path"], query, headers, self.port, self.token)
        if why is None:
            await self.app(scope, receive, with_headers)
            return
        start = {"type": "http.response.start", "status": 403}
        words = [(b"content-type", b"text/plain; charset=utf-8")]
        await with_headers({**start, "headers": words})
        await send({"type": "http.response.body", "body": why.encode()})
