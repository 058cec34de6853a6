"""What the features of a tree are: its columns, and after them combinations of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from provetree.number_types import Float, Int32
from provetree.problem.combinations import Combination
from provetree.tree.arrays import Name

__all__ = ["Questions"]


class Questions:
    """The features that the splits of a tree ask about, by their numbers."""

    __slots__ = ()

    feature: Int32
    n_features: int
    feature_names: tuple[str, ...] | None
    categories: tuple[tuple[Name, ...] | None, ...]
    combinations: tuple[Combination, ...]
    category: Int32
    groups: tuple[tuple[int, ...], ...]

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns; x0, x1, ... where they have none."""
        return self.feature_names or tuple(f"x{i}" for i in range(self.n_features))

    @property
    def question_names(self) -> tuple[str, ...]:
        """What each feature is called: the names of the columns, then the combinations."""
        names = self.column_names
        return (*names, *(each.words(names) for each in self.combinations))

    def levels_of(self, feature: int) -> tuple[Name, ...] | None:
        """Return the categories of a feature; None for numbers and combinations."""
        return self.categories[feature] if feature < self.n_features else None

    def combination_of(self, feature: int) -> Combination | None:
        """Return the combination that a feature is; None for a column."""
        return None if feature < self.n_features else self.combinations[feature - self.n_features]

    def codes_left(self, node: int) -> tuple[int, ...]:
        """Return the codes of the categories that a split sends left; none for numbers and leaves.

        The code of a missing value is the number of categories.
        """
        if self.groups and self.groups[node]:
            return self.groups[node]
        code = int(self.category[node])
        return () if code < 0 else (code,)

    @property
    def nodes_of_groups(self) -> list[int]:
        """The splits that send several categories left."""
        return [node for node, group in enumerate(self.groups) if group]

    def names_left(self, node: int) -> tuple[Name, ...]:
        """Return the categories that a split sends left, without missing values.

        Examples
        --------
        >>> from provetree import Tree
        >>> tree = Tree(feature=[0, -1, -1], threshold=[0, 0, 0], groups=[[0, 2, 3], [], []],
        ...             value=[[0, 0], [3, 1], [0, 2]], n_samples=[0, 4, 2], n_features=1,
        ...             categories=[["red", "green", "blue"]])
        >>> tree.codes_left(0), tree.names_left(0), bool(tree.missing_left[0])
        ((0, 2, 3), ('red', 'blue'), True)
        """
        levels = self.levels_of(int(self.feature[node])) or ()
        return tuple(levels[code] for code in self.codes_left(node) if code < len(levels))

    def columns_of(self, feature: int) -> tuple[int, ...]:
        """Return the columns that a feature is made of: one, or those of a combination.

        Examples
        --------
        >>> from provetree import Combination, Tree
        >>> tree = Tree(feature=[2, -1, -1], threshold=[3.0, 0, 0], n_features=2,
        ...             value=[[0, 0], [3, 1], [0, 2]], n_samples=[0, 4, 2],
        ...             combinations=[Combination((0, 1), (1.0, -2.0))])
        >>> tree.question_names[2], tree.columns_of(2), tree.predict([[5.0, 2.0]])
        ('x0 - 2*x1', (0, 1), array([0]))
        """
        combination = self.combination_of(feature)
        return (feature,) if combination is None else combination.columns

    @property
    def columns_used(self) -> list[int]:
        """The columns that some split is about, in their order."""
        asked = self.feature[self.feature >= 0].tolist()
        return sorted({column for feature in asked for column in self.columns_of(feature)})

    def with_combinations(self, X: ArrayLike) -> Float:
        """Return an encoded table with a column for each combination after its own."""
        table = np.asarray(X, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != self.n_features:
            raise ValueError(
                f"The tree needs a table of {self.n_features} columns. "
                f"Got an array of shape {table.shape} instead."
            )
        if not self.combinations:
            return table
        return np.column_stack([table, *(each.values(table) for each in self.combinations)])
