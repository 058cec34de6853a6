"""A session in a file, so that a studio that was stopped goes on where it was.

The file holds wishes, trees and figures, and nothing of the table but names. Only its owner may
read it, because the token of the address is in it: pages that are still open find a studio that was
started again. A file that others could have written keeps its versions and gets a new token.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["SessionFile", "SessionFileError"]

_FORMAT, _VERSION = "provetree-studio", 1


class SessionFileError(ValueError):
    """A session file is damaged, or none at all."""


class SessionFile:
    """The file of a session.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from provetree.studio.session_file import SessionFile
    >>> file = SessionFile(pathlib.Path(tempfile.mkdtemp()) / "data.studio.json")
    >>> file.load()
    >>> file.address = {"port": 8000, "token": "t"}
    >>> file.save({"current": 1, "versions": []})
    >>> file.load()["current"], file.address["port"]
    (1, 8000)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.address: dict[str, Any] = {}

    def load(self) -> dict[str, Any] | None:
        """Return the session that was kept, None where there is none."""
        try:
            text = self.path.read_text(encoding="utf-8")
            kept = json.loads(text)
            if kept["format"] != _FORMAT or kept["version"] != _VERSION:
                raise KeyError
            session = kept["session"]
            assert isinstance(session, dict)
            assert isinstance(session["versions"], list)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SessionFileError(
                f"The session file '{self.path}' could not be read: {error.strerror}."
            ) from None
        except (ValueError, KeyError, TypeError, AssertionError):
            raise SessionFileError(
                f"'{self.path}' is not a session of the studio: name another file by --session, or "
                "move this one away."
            ) from None
        found = kept.get("address")
        if isinstance(found, dict) and self._is_private():
            self.address = found
        return session

    def save(self, session: Mapping[str, Any]) -> None:
        """Write the session; the file is whole at every moment."""
        data = {
            "format": _FORMAT,
            "version": _VERSION,
            "address": self.address,
            "session": session,
        }
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
                json.dump(data, f)
            os.replace(beside, self.path)
        except OSError as error:
            raise SessionFileError(
                f"The session file '{self.path}' could not be written: {error.strerror}."
            ) from None

    def set_aside(self) -> Path:
        """Move the file away, and return where it is now."""
        at = 1
        while (aside := self.path.with_suffix(f".{at}.json")).exists():
            at += 1
        os.replace(self.path, aside)
        return aside

    def _is_private(self) -> bool:
        found = os.stat(self.path)
        mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        return mine and not found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
