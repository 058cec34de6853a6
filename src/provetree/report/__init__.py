"""The tree for people: rules in sentences, and a report in one HTML file."""

from __future__ import annotations
