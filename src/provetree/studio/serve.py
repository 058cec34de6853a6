"""Starts and stops the server of a studio, from Python, from notebooks, from the command line."""

from __future__ import annotations

import http.client
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from provetree.studio.session import Session
from provetree.studio.session_file import SessionFile, SessionFileError
from provetree.studio.table import StudioTable
from provetree.studio.version import Version
from provetree.studio.wishes import Wishes

__all__ = ["Studio", "open_studio", "studio"]

#: Seconds that a server may take to begin.
_LONGEST_START = 20.0
#: Seconds in which one that runs answers, also on a busy machine.
_LONGEST_ANSWER = 10.0
#: Seconds that it may take to end; what is left then ends with the program.
_LONGEST_STOP = 20.0


class Studio:
    """A studio that runs on this machine.

    Parameters
    ----------
    session : Session
        What it shows.
    port : int
        Where it listens; 0 takes a free port.
    token : str, optional
        What the address must hold; a new one by default.

    Attributes
    ----------
    url : str
        The address of its page.
    """

    def __init__(self, session: Session, *, port: int = 0, token: str | None = None) -> None:
        try:
            import uvicorn

            from provetree.studio.app import Holder, make_app
        except ImportError as error:
            raise ImportError(
                "The studio needs starlette and uvicorn: pip install 'provetree[studio]'."
            ) from error
        self.session = session
        self.token = secrets.token_urlsafe(24) if token is None else token
        self._socket = _bound(port)
        self.port = int(self._socket.getsockname()[1])
        self._holder = Holder(session)
        app = make_app(self._holder, port=self.port, token=self.token)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="error",
                lifespan="off",
                ws="none",
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="studio server", daemon=True)
        self._thread.start()
        end = time.monotonic() + _LONGEST_START
        while not self._server.started and self._thread.is_alive() and time.monotonic() < end:
            time.sleep(0.01)
        if not self._server.started:
            raise RuntimeError("The server of the studio did not start.")

    def _serve(self) -> None:
        try:
            self._server.run([self._socket])
        finally:
            self._ended.set()

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        return _url(self.port, self.token)

    @property
    def classifier(self) -> Any:
        """The fitted classifier of the version that is shown."""
        return self.session.classifier(self.session.shown().number)

    @property
    def version(self) -> Version:
        """The version that is shown."""
        return self.session.shown()

    def open(self) -> None:
        """Show the page in a browser."""
        webbrowser.open(self.url)

    def wait(self) -> None:
        """Wait until the studio is stopped."""
        # Ctrl-C while a thread is joined makes Python take the thread for ended.
        while not self._ended.wait(0.5):
            pass

    def stop(self) -> None:
        """Stop the server and its searches."""
        self._holder.closing = True
        self.session.close()
        self._server.should_exit = True
        if self._ended.wait(_LONGEST_STOP):
            self._thread.join()
            self._socket.close()

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Studio({self.url!r})"

    def _repr_html_(self) -> str:
        link = f'<a href="{escape(self.url)}" target="_blank" rel="noopener">Open the studio</a>'
        return f"<p>{link} for {escape(self.session.table.target)}, on this machine.</p>"


def _url(port: int, token: str) -> str:
    return f"http://127.0.0.1:{port}/?token={token}"


def _answers(address: Mapping[str, Any]) -> bool:
    """Tell whether a studio answers at an address."""
    if not address:
        return False
    line = http.client.HTTPConnection("127.0.0.1", int(address["port"]), timeout=_LONGEST_ANSWER)
    try:
        line.request("GET", f"/?token={address['token']}")
        return line.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        line.close()


def _bound(port: int) -> socket.socket:
    """Return a socket of this machine alone, at a free port where the wanted one is taken."""
    wanted = [port, 0] if port else [0]
    for at in wanted:
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", at))
        except OSError:
            listening.close()
            continue
        return listening
    raise OSError("There is no free port on this machine.")


def open_studio(
    table: StudioTable,
    wishes: Wishes | None = None,
    *,
    seconds: float = 20.0,
    port: int = 0,
    session_file: str | Path | None = None,
) -> tuple[Studio, str | None]:
    """Start a studio, and return it with what there is to say about the session it goes on with.

    Parameters
    ----------
    table : StudioTable
        What the trees are about.
    wishes : Wishes
        The wishes to begin with, where no session was kept.
    seconds : float
        How long a search may take.
    port : int
        Where it listens; 0 takes the port of the session that was kept, or a free one.
    session_file : path
        Where the session is kept; None keeps it in memory alone.
    """
    note, kept = None, None
    file = None if session_file is None else SessionFile(session_file)
    if file is not None:
        kept = file.load()
        if kept is not None and kept.get("table") != table.fingerprint():
            aside = file.set_aside()
            kept, file.address = None, {}
            note = f"The table has changed since the last session, which is now in '{aside}'."
        elif kept is not None:
            note = f"Going on with {len(kept['versions'])} versions of '{file.path}'."
    if file is not None and _answers(file.address):
        raise SessionFileError(
            f"The session '{file.path}' is open already, at {_url(**file.address)}: stop that "
            "studio first, or name another file for this one."
        )
    keep = None if file is None else file.save
    try:
        session = Session(table, wishes, seconds=seconds, keep=keep, data=kept)
    except (KeyError, TypeError, AttributeError) as error:
        raise SessionFileError(f"The session file '{session_file}' is damaged.") from error
    address = {} if file is None else file.address
    started = Studio(session, port=port or int(address.get("port", 0)), token=address.get("token"))
    if file is not None:
        file.address = {"port": started.port, "token": started.token}
        try:
            file.save(session.to_data())
        except SessionFileError:
            started.stop()
            raise
    return started, note


def studio(
    clf: Any,
    X: Any,
    y: ArrayLike,
    *,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    target: str = "y",
    time_limit: float = 20.0,
    port: int = 0,
    session: str | Path | None = None,
    open_browser: bool = True,
) -> Studio:
    """Open the studio on a table: a page of this machine to shape a proven tree by hand.

    The page is served to this machine alone, at an address with a secret token; nothing leaves the
    machine. It needs the extra ``studio``.

    Parameters
    ----------
    clf : OptimalTreeClassifier
        A classifier, fitted or not, whose parameters the studio begins with.
    X : array-like or table of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        Their labels.
    X_test, y_test : optional
        Rows that were held out, and their labels.
    target : str, default="y"
        The name of what is predicted.
    time_limit : float, default=20.0
        Seconds that each search may take.
    port : int, default=0
        The port; 0 takes a free one.
    session : str or pathlib.Path, default=None
        A file that keeps the session, and from which it goes on; None keeps it in memory.
    open_browser : bool, default=True
        Whether to show the page in a browser at once.

    Returns
    -------
    Studio
        The studio: its ``url``, the ``classifier`` of the version that is shown, and ``stop()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.studio import studio
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> with studio(OptimalTreeClassifier(max_depth=2), X, y, open_browser=False) as opened:
    ...     _ = opened.session.wait_for_proof()
    ...     opened.classifier.objective_
    6
    """
    from provetree.studio.beginning import settings_of, wishes_of

    table = StudioTable(X, y, X_test, y_test, target, settings_of(clf))
    opened, _ = open_studio(
        table, wishes_of(clf, table), seconds=time_limit, port=port, session_file=session
    )
    if open_browser:
        opened.open()
    return opened
