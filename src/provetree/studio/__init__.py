"""The studio: a page on this machine on which people shape a proven tree by hand."""

from __future__ import annotations

from provetree.studio.serve import Studio, studio

__all__ = ["Studio", "studio"]
