"""DL8 and DL8.5 on Boolean columns, their leaf costs, and the columns made from tables."""

from __future__ import annotations

from provetree.itemsets.engine import ItemsetSearch
from provetree.itemsets.leaf_cost import LeafCost

__all__ = ["ItemsetSearch", "LeafCost"]
