"""What goes wrong for people at the command line: one sentence, and an exit status."""

from __future__ import annotations

__all__ = ["UserError"]


class UserError(Exception):
    """Something the person at the keyboard can put right; its text is the whole message.

    Examples
    --------
    >>> from provetree.cli.errors import UserError
    >>> raise UserError("There is no file 'data.csv'.")
    Traceback (most recent call last):
        ...
    provetree.cli.errors.UserError: There is no file 'data.csv'.
    """
