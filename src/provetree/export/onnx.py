"""A tree as an ONNX model (the extra ``onnx``), with thresholds in float64.

The tree itself is one operator that finds the leaf of a row; labels, shares and numbers are looked
up in tables by the number of the leaf, so no rounding can change them. Columns of categories are
text inputs, and the model turns them into codes itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from provetree.tree.tree import Tree

__all__ = ["to_onnx"]

#: The newest versions of the operators that are needed; runtimes of 2021 know them.
_OPSET, _ML_OPSET, _IR_VERSION = 15, 3, 8
_INPUT = "X"
#: The empty text stands for a missing category: ONNX has no missing text.
_MISSING_TEXT = ""


def to_onnx(tree: Tree) -> bytes:
    """Return `tree` as the bytes of an ONNX model.

    A tree without columns of categories takes one input ``X``, float64 of shape (rows, columns).
    With such columns there is one input for each column, named as the column, of shape (rows, 1):
    float64, or text for categories, the empty text standing for a missing one. NaN is a missing
    number.

    Parameters
    ----------
    tree : Tree
        The tree.

    Returns
    -------
    bytes
        The model. Its outputs are ``label`` (int64 where all labels are ints, text otherwise) and
        ``probabilities`` (float64, one column for each label). A tree of actions has the label
        alone, a tree of numbers the output ``prediction`` (float64, one column for each output).

    Raises
    ------
    UnsupportedTreeError
        If a column of categories holds anything but text.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.export import to_onnx
    >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
    >>> session = onnxruntime.InferenceSession(to_onnx(clf.tree_))
    >>> session.run(["label"], {"X": np.array([[22.0], [np.nan]])})[0].tolist()
    ['no', 'yes']
    """
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError as error:
        raise ImportError(
            "Writing ONNX needs the onnx package: install it with pip install 'provetree[onnx]'."
        ) from error

    leaves = [node for node in range(tree.n_nodes) if tree.feature[node] < 0]
    inputs, nodes = _inputs(tree, helper, TensorProto)
    sums, tables = _sums(tree, helper, numpy_helper)
    nodes += sums
    table_name = "table and sums" if sums else "table"
    groups = _groups(tree, table_name, helper, TensorProto)
    nodes += groups
    nodes.append(
        helper.make_node(
            "TreeEnsembleRegressor",
            ["table and groups" if groups else table_name],
            ["leaf_number"],
            domain="ai.onnx.ml",
            **_tree_attributes(tree, leaves, helper, TensorProto),
        )
    )
    nodes += [
        helper.make_node("Cast", ["leaf_number"], ["leaf_column"], to=TensorProto.INT64),
        helper.make_node("Squeeze", ["leaf_column", "second_axis"], ["leaf"]),
    ]
    outputs = []
    for name, source, table in _leaf_tables(tree, leaves):
        nodes.append(helper.make_node("Gather", [source, "leaf"], [name], axis=0))
        if table.dtype == np.float64:
            kind = TensorProto.DOUBLE
            tables.append(numpy_helper.from_array(table, source))
        else:
            text = table.dtype == object
            kind = TensorProto.STRING if text else TensorProto.INT64
            labels = [label.encode() for label in table] if text else table.tolist()
            tables.append(helper.make_tensor(source, kind, [len(labels)], labels))
        outputs.append(helper.make_tensor_value_info(name, kind, ["rows", *table.shape[1:]]))
    tables.append(numpy_helper.from_array(np.array([1], dtype=np.int64), "second_axis"))
    graph = helper.make_graph(nodes, "provetree", inputs, outputs, tables)
    model = helper.make_model(
        graph,
        producer_name="provetree",
        ir_version=_IR_VERSION,
        opset_imports=[
            helper.make_opsetid("", _OPSET),
            helper.make_opsetid("ai.onnx.ml", _ML_OPSET),
        ],
    )
    checker.check_model(model)
    data: bytes = model.SerializeToString()
    return data


def _inputs(tree: Tree, helper: Any, types: Any) -> tuple[list[Any], list[Any]]:
    """Return the inputs, and the nodes that make one table of them."""
    if all(levels is None for levels in tree.categories):
        table = helper.make_tensor_value_info(_INPUT, types.DOUBLE, ["rows", tree.n_features])
        return [table], [helper.make_node("Identity", [_INPUT], ["table"])]
    inputs, nodes, parts = [], [], []
    for feature, levels in enumerate(tree.categories):
        name = tree.column_names[feature]
        kind = types.DOUBLE if levels is None else types.STRING
        inputs.append(helper.make_tensor_value_info(name, kind, ["rows", 1]))
        if levels is None:
            parts.append(name)
            continue
        words = _words(levels, name)
        nodes += [
            helper.make_node(
                "LabelEncoder",
                [name],
                [f"code {feature}"],
                domain="ai.onnx.ml",
                keys_strings=[*words, _MISSING_TEXT],
                values_floats=[*map(float, range(len(words))), math.nan],
                default_float=-1.0,
            ),
            helper.make_node("Cast", [f"code {feature}"], [f"column {feature}"], to=types.DOUBLE),
        ]
        parts.append(f"column {feature}")
    nodes.append(helper.make_node("Concat", parts, ["table"], axis=1))
    return inputs, nodes


def _sums(tree: Tree, helper: Any, arrays: Any) -> tuple[list[Any], list[Any]]:
    """Return the nodes that add the sums of columns to the table, and their constants."""
    if not tree.combinations:
        return [], []
    nodes, constants, sums = [], [], []
    for number, combination in enumerate(tree.combinations):
        total = ""
        for place, (coefficient, column) in enumerate(combination.terms):
            term = f"sum {number} term {place}"
            constants += [
                arrays.from_array(np.array([column], dtype=np.int64), f"{term} column"),
                arrays.from_array(np.array([coefficient]), f"{term} coefficient"),
            ]
            nodes += [
                helper.make_node("Gather", ["table", f"{term} column"], [f"{term} value"], axis=1),
                helper.make_node("Mul", [f"{term} value", f"{term} coefficient"], [term]),
            ]
            if total:
                nodes.append(helper.make_node("Add", [total, term], [f"{term} and before"]))
            total = f"{term} and before" if total else term
        sums.append(total)
    nodes.append(helper.make_node("Concat", ["table", *sums], ["table and sums"], axis=1))
    return nodes, constants


def _groups(tree: Tree, table: str, helper: Any, types: Any) -> list[Any]:
    """Return the nodes that add a column for each group of categories: 0 inside, 1 outside."""
    nodes, parts = [], [table]
    for node in tree.nodes_of_groups:
        feature = int(tree.feature[node])
        words = [*_words(tree.categories[feature] or (), tree.column_names[feature]), _MISSING_TEXT]
        inside = [words[code] for code in tree.codes_left(node)]
        nodes += [
            helper.make_node(
                "LabelEncoder",
                [tree.column_names[feature]],
                [f"outside {node}"],
                domain="ai.onnx.ml",
                keys_strings=inside,
                values_floats=[0.0] * len(inside),
                default_float=1.0,
            ),
            helper.make_node("Cast", [f"outside {node}"], [f"group {node}"], to=types.DOUBLE),
        ]
        parts.append(f"group {node}")
    if nodes:
        nodes.append(helper.make_node("Concat", parts, ["table and groups"], axis=1))
    return nodes


def _words(levels: tuple[Any, ...], name: str) -> list[str]:
    from provetree.export.sklearn import UnsupportedTreeError

    for level in levels:
        if not isinstance(level, str) or level == _MISSING_TEXT:
            raise UnsupportedTreeError(
                "ONNX takes categories as text that is not empty, and column "
                f"{name!r} holds the category {level!r}. Turn its categories into text."
            )
    return list(levels)


def _leaf_tables(tree: Tree, leaves: list[int]) -> list[tuple[str, str, Any]]:
    """Return the outputs of the model: their names, those of their tables, what each leaf gives."""
    if tree.kind == "numbers":
        return [("prediction", "leaf_values", np.ascontiguousarray(tree.value[leaves]))]
    labels = [("label", "leaf_labels", _labels(tree)[tree.label[leaves]])]
    if tree.kind == "actions":
        return labels
    shares = np.ascontiguousarray(tree.probabilities()[leaves])
    return [*labels, ("probabilities", "leaf_shares", shares)]


def _labels(tree: Tree) -> Any:
    names = tree.labels
    # A bool is no number here, and a number beyond 64 bits is text.
    if all(type(name) is int and -(2**63) <= name < 2**63 for name in names):
        return np.array(names, dtype=np.int64)
    return np.array([str(name) for name in names], dtype=object)


def _tree_attributes(tree: Tree, leaves: list[int], helper: Any, types: Any) -> dict[str, Any]:
    in_group = np.zeros(tree.n_nodes, dtype=bool)
    feature = tree.feature.copy()
    for place, node in enumerate(tree.nodes_of_groups):
        in_group[node], feature[node] = True, tree.n_features + len(tree.combinations) + place
    kinds = [tree.feature < 0, in_group, tree.category >= 0]
    modes = np.select(kinds, ["LEAF", "BRANCH_LEQ", "BRANCH_EQ"], "BRANCH_LEQ").tolist()
    numbers = [0.0 * tree.category, 0.0 * tree.category + 0.5, tree.category]
    values = np.select(kinds, numbers, tree.threshold).tolist()
    split = tree.feature >= 0

    def double(name: str, numbers: list[float]) -> Any:
        return helper.make_tensor(name, types.DOUBLE, [len(numbers)], numbers)

    return {
        "nodes_treeids": [0] * tree.n_nodes,
        "nodes_nodeids": list(range(tree.n_nodes)),
        "nodes_featureids": np.where(split, feature, 0).tolist(),
        "nodes_modes": modes,
        "nodes_values_as_tensor": double("nodes_values_as_tensor", values),
        "nodes_truenodeids": np.where(split, tree.left, 0).tolist(),
        "nodes_falsenodeids": np.where(split, tree.right, 0).tolist(),
        "nodes_missing_value_tracks_true": tree.missing_left.astype(int).tolist(),
        "target_treeids": [0] * len(leaves),
        "target_nodeids": leaves,
        "target_ids": [0] * len(leaves),
        "target_weights_as_tensor": double(
            "target_weights_as_tensor", [float(i) for i in range(len(leaves))]
        ),
        "n_targets": 1,
    }
