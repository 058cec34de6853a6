"""What differs between the supported versions of scikit-learn (1.3 and later), in one place."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

__all__ = ["ClassifierFace", "PolicyFace", "RegressorFace", "TableEstimator"]


class TableEstimator(BaseEstimator):
    """A scikit-learn estimator whose tables may hold missing values."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _more_tags(self) -> dict[str, bool]:
        # The form of the tags before 1.6.
        return {"allow_nan": True}


class ClassifierFace(ClassifierMixin):
    """What makes a table estimator a classifier.

    Its tag ``poor_score`` is set for one reason only. scikit-learn's check of class weights weighs
    one class of noise ten million times the other, and expects it to be predicted nearly
    everywhere. A tree that is optimal for these weights gets every row of the heavy class right,
    and then also as many of the light ones as it can. The tests hold the estimator to the accuracy
    that the tag would excuse.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _more_tags(self) -> dict[str, bool]:
        return {"poor_score": True}


class RegressorFace(RegressorMixin):
    """What makes a table estimator a regressor of one or several outputs."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _more_tags(self) -> dict[str, bool]:
        return {"multioutput": True}


class PolicyFace:
    """What makes a table estimator one of policies: it needs rewards, a column for each action."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.target_tags.two_d_labels = True
        tags.target_tags.multi_output = True
        return tags

    def _more_tags(self) -> dict[str, bool]:
        return {"requires_y": True, "multioutput": True, "multioutput_only": True}
