"""Trees for other programs: pictures, files, code, and the classes of other libraries.

The names are loaded on first use: reading a stored model needs neither scikit-learn nor matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provetree._lazy import lazy_names

if TYPE_CHECKING:
    from provetree.export.c_code import to_c
    from provetree.export.graphviz import to_graphviz
    from provetree.export.history import plot_history
    from provetree.export.model_file import (
        InputColumn,
        ModelFileError,
        Proof,
        StoredModel,
        load_model,
        model_schema,
    )
    from provetree.export.onnx import to_onnx
    from provetree.export.plot import plot_tree
    from provetree.export.pmml import to_pmml
    from provetree.export.python_code import to_python
    from provetree.export.sklearn import (
        UnsupportedTreeError,
        to_sklearn,
        to_sklearn_regressor,
    )
    from provetree.export.sklearn_pipeline import to_sklearn_pipeline
    from provetree.export.sql import to_sql

_HOMES = {
    "InputColumn": "model_file",
    "ModelFileError": "model_file",
    "Proof": "model_file",
    "StoredModel": "model_file",
    "UnsupportedTreeError": "sklearn",
    "load_model": "model_file",
    "model_schema": "model_file",
    "plot_history": "history",
    "plot_tree": "plot",
    "to_c": "c_code",
    "to_graphviz": "graphviz",
    "to_onnx": "onnx",
    "to_pmml": "pmml",
    "to_python": "python_code",
    "to_sklearn": "sklearn",
    "to_sklearn_pipeline": "sklearn_pipeline",
    "to_sklearn_regressor": "sklearn",
    "to_sql": "sql",
}

__all__ = [
    "InputColumn",
    "ModelFileError",
    "Proof",
    "StoredModel",
    "UnsupportedTreeError",
    "load_model",
    "model_schema",
    "plot_history",
    "plot_tree",
    "to_c",
    "to_graphviz",
    "to_onnx",
    "to_pmml",
    "to_python",
    "to_sklearn",
    "to_sklearn_pipeline",
    "to_sklearn_regressor",
    "to_sql",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
