"""Errors of the user at the command line: one sentence each."""

from __future__ import annotations

__all__ = ["UserError"]


class UserError(Exception):
    """An error that the user can correct; its text is the whole message.

    Examples
    --------
    >>> from provetree.cli.errors import UserError
    >>> raise UserError("There is no file 'data.csv'.")
    Traceback (most recent call last):
        ...
    provetree.cli.errors.UserError: There is no file 'data.csv'.
    """
