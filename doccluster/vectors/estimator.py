"""scikit-learn's conventions for an estimator, kept without importing scikit-learn.

Turning text into a matrix needs nothing of scikit-learn, whose import takes longer and holds more than the work on
many a corpus. What its own functions ask of an estimator (`clone`, pipelines, searches) is a handful of methods; they
are here, and load it when asked.
"""

from __future__ import annotations

import inspect
from typing import Any, Self

from doccluster.errors import InputError


class TextEstimator:
    """Base of the vectorizers: parameters are the keyword arguments of `__init__`, attributes of the same names."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `deep` changes nothing, since none of them is an estimator."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; returns self.

        Raises
        ------
        InputError
            If there is no such parameter.
        """
        known = self._defaults()
        for name, value in parameters.items():
            if name not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}", remedy=f"give one of {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def set_output(self, *, transform: str | None = None) -> Self:
        """Accept that the output is as it is, a sparse array; returns self.

        Raises
        ------
        InputError
            If a table is asked for.
        """
        if transform not in (None, "default"):
            raise InputError(
                f"the rows are sparse, transform={transform!r} has no sparse tables",
                remedy="give 'default' and convert the part you need",
            )
        return self

    def require_fit(self, attribute: str) -> None:
        """Raise scikit-learn's NotFittedError when `attribute` has not been learned."""
        if not hasattr(self, attribute):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit before using it.")

    def __repr__(self) -> str:
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not (default := self._defaults()[name]) and repr(value) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(string=True, two_d_array=False),
        )

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters}
