"""Small pieces of HTML that all parts of the report share."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["table"]


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], caption: str, words: Sequence[int] = ()
) -> str:
    """Return a table of cells of HTML; the columns at the places `words` hold text, not numbers.

    Examples
    --------
    >>> from provetree.report.markup import table
    >>> table(["name", "rows"], [["a", "1"]], "One row").count("<td")
    2
    """

    def cells(opening: str, closing: str, values: Sequence[str]) -> str:
        kinds = [' class="words"' if place in words else "" for place in range(len(values))]
        pairs = zip(kinds, values, strict=True)
        return "".join(f"<{opening}{kind}>{value}</{closing}>" for kind, value in pairs)

    body = "".join(f"<tr>{cells('td', 'td', row)}</tr>" for row in rows)
    head = cells('th scope="col"', "th", header)
    return (
        f'<div class="scroll"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>"
    )
