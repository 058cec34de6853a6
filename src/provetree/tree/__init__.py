"""The tree itself: prediction, text, JSON, and the check of a tree against raw data."""

from __future__ import annotations

from provetree.tree.build import build_tree
from provetree.tree.threshold import midpoint
from provetree.tree.tree import Tree
from provetree.tree.verify import VerifiedCost, verify

__all__ = ["Tree", "VerifiedCost", "build_tree", "midpoint", "verify"]
