"""A parameter written once: type, default, range and a sentence, in one field of a dataclass.

The signature, the checks, the section of a docstring, an option of the command line and the tables of the docs are made
from it.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from operator import ge, gt, le, lt
from typing import Any, ParamSpec, TypeVar, cast

from doccluster.base.plain_values import one_of
from doccluster.base.progress import checked_progress
from doccluster.errors import Argument, InputError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
A = TypeVar("A")
P = ParamSpec("P")
SYNONYMS = (  # what commands, scikit-learn and our own functions call the same thing
    ("n_clusters", "k", "n_topics", "centers", "n_components"),
    ("random_state", "seed"),
    ("n_threads", "threads", "n_jobs"),
    ("n_documents", "n_samples"),
    ("n_terms", "n_features"),
    ("labels", "labels_pred", "y_pred", "found"),
    ("truth", "labels_true", "y_true", "y"),
    ("vectors", "X", "matrix"),
    ("text_column", "text", "column"),
    ("language", "stop_words"),
    ("ks", "max_k", "k_range"),
)
MAKERS = {  # of the values that functions hand on to each other, by the name of the annotation
    "Run": "run(documents), or load_run(folder)",
    "DocumentVectors": "vectorize(corpus)",
    "Comparison": "compare(sources)",
}
KEY = "parameter"  # of the record in a field's metadata
_ENDS = {"low": (">=", ge), "above": ("above", gt), "high": ("<=", le), "below": ("below", lt)}  # of a range


@dataclass(frozen=True)
class Parameter:
    """The description, default and range of a parameter."""

    about: str  # one sentence or a few; the first stands in the help of the command line
    default: Any
    type: str = ""  # as a docstring says it, where that is not the type of the field
    choices: tuple[str, ...] = ()  # the words it may be; besides them a number, if it has a range
    low: float | None = None  # the range of a number, both ends included; whole where the default is
    high: float | None = None
    above: float | None = None  # ends that are not included themselves
    below: float | None = None
    value: str = ""  # what stands for a value in the help of the command line
    check: Callable[[str], object] | None = None  # raises InputError for a text that cannot be used

    @property
    def summary(self) -> str:
        """The first sentence."""
        return re.split(r"(?<=\.) (?=[A-Z])", self.about)[0]

    @property
    def has_range(self) -> bool:
        """Whether it may be a number."""
        return bool(self._ends)

    @property
    def _ends(self) -> dict[str, float]:
        return {name: end for name in _ENDS if (end := getattr(self, name)) is not None}

    @property
    def range(self) -> str:
        """The range, or the words it may be, as an error says it."""
        ends = [f"{_ENDS[name][0]} {end:g}" for name, end in self._ends.items()]
        words = [*map(repr, self.choices), *(["a number"] if self.choices and ends else [])]
        return " ".join(filter(None, (one_of(words), " and ".join(ends))))

    def check_value(self, name: str, value: object) -> None:
        """Raise InputError unless a value is one of the words, or a number in the range."""
        if self.choices and (isinstance(value, str) or not self.has_range):
            if not isinstance(value, str) or value not in self.choices:
                raise InputError("is not known", argument=name, received=value, expected=self.range)
        elif isinstance(self.default, bool):
            if type(value).__name__ not in ("bool", "bool_"):
                raise InputError("is not known", argument=name, received=value, expected="true or false")
        elif self.has_range and not (value is None and self.default is None):
            self._check_number(name, value)

    def _check_number(self, name: str, value: Any) -> None:
        is_whole = isinstance(self.default, int)
        is_number = _is_number(value, is_whole=is_whole)
        if is_number and all(_ENDS[end][1](value, self._ends[end]) for end in self._ends):
            return
        what = "a positive whole number" if is_whole and self.low == 1 else f"a {'whole ' * is_whole}number"
        problem = f"is not {what}" if not is_number or self.low == 1 else "is out of range"
        if self.choices:
            raise InputError(problem, argument=name, received=value, expected=self.range)
        raise InputError(problem, argument=name, received=value, remedy=("give ", Argument(name), f" {self.range}"))


def parameter(default: T, about: str, **facts: Any) -> T:
    """Return a field of a dataclass with its description; the keywords are the fields of `Parameter`."""
    dataclass_field: T = field(default=default, metadata={KEY: Parameter(about, default, **facts)})
    return dataclass_field


def parameters_of(kind: Any) -> dict[str, Parameter]:
    """Return the parameters of a dataclass by name, in their order."""
    return {item.name: item.metadata[KEY] for item in fields(kind) if KEY in item.metadata}


def check_parameters(parameters: object) -> None:
    """Raise InputError for the first parameter of a dataclass that is none of its words, or out of its range."""
    for name, parameter in parameters_of(parameters).items():
        parameter.check_value(name, getattr(parameters, name))


def check_names(typed: Iterable[str], names_known: Iterable[str], what: str) -> None:
    """Raise InputError for the first name that is not among the known ones, with the one that may have been meant."""
    names = list(names_known)
    if not isinstance(typed, Mapping | tuple):
        remedy = f"give its arguments by name, such as {{{names[0]!r}: ...}}"
        raise InputError("is not a dict", argument=what, received=typed, remedy=remedy)
    for name in typed:
        if name not in names:
            same = (synonym for group in SYNONYMS if name in group for synonym in group if synonym in names)
            near = next(same, None) or next(iter(difflib.get_close_matches(name, names, n=1)), None)
            raise InputError(
                f"{what} has no argument {name!r}",
                remedy=f"did you mean {near}?" if near else f"it has {', '.join(names)}",
            )


def at_the_door(function: F, name: str | None = None) -> F:
    """Return the function, under a public name, with a wrong call answered by the right one."""
    signature, called = inspect.signature(function), name or function.__qualname__.removesuffix(".__init__")
    parameters = {name: parameter for name, parameter in signature.parameters.items() if name != "self"}
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    kinds = {name: parameter.annotation for name, parameter in parameters.items() if parameter.annotation in MAKERS}
    by_place = [name for name, parameter in parameters.items() if parameter.kind < parameter.VAR_POSITIONAL]
    by_name = [f"{name}=..." for name, parameter in parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]
    shown = [*by_place, *by_name[:2], *(["..."] if len(by_name) > 2 else [])]
    call = f"{called}({', '.join(shown)})"
    # an estimator takes what it is given, and checks it in `fit`
    is_called = "progress" in parameters and not function.__qualname__.endswith("__init__")
    usual = parameters["progress"].default if is_called else None

    @functools.wraps(function)
    def checked(*arguments: object, **keywords: object) -> Any:
        check_names(() if takes_any else keywords, parameters, f"{called}()")
        if is_called and keywords.get("progress", usual) is not usual:
            keywords["progress"] = checked_progress(keywords["progress"])
        try:
            values = signature.bind(*arguments, **keywords).arguments
        except TypeError as error:
            raise InputError(f"{called}(): {error}", remedy=f"call it as {call}") from None
        for place, kind in kinds.items():
            if all(ancestor.__name__ != kind for ancestor in type(values[place]).__mro__):
                problem = f"is a {type(values[place]).__name__}, and {called}() takes a {kind}"
                raise InputError(problem, argument=place, remedy=f"make one with {MAKERS[kind]}")
        return function(*arguments, **keywords)

    if name is not None and not function.__qualname__.endswith("__init__"):
        checked.__module__, checked.__qualname__ = "doccluster", name  # where pickle looks for it
    return cast(F, checked)


def called_with(kind: Callable[P, A]) -> Callable[[Callable[[Any, A], T]], Callable[P, T]]:
    """Return a decorator by which a function takes what a dataclass is made of, as arguments of its own.

    The function gets the field `source` of the dataclass, and the dataclass.
    """

    def decorate(function: Callable[[Any, A], T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*arguments: P.args, **keywords: P.kwargs) -> T:
            values: Any = kind(*arguments, **keywords)
            return function(values.source, values)

        returned = inspect.signature(function).return_annotation
        call.__signature__ = inspect.signature(kind).replace(return_annotation=returned)  # type: ignore[attr-defined]
        return call

    return decorate


def part_of(values: object, kind: Callable[..., T]) -> T:
    """Return the part of a dataclass that is another, from which it inherits."""
    return kind(**{item.name: getattr(values, item.name) for item in fields(cast(Any, kind))})


def described_by(kind: object) -> Callable[[T], T]:
    """Return a decorator that puts the section Parameters of a dataclass into the docstring of a class or function.

    Of a function it describes the parameters that it shares with the dataclass, with the function's defaults, unless
    its docstring describes them already.
    """

    def describe(target: T) -> T:
        if target.__doc__:  # there is none with python -OO
            signature = {} if isinstance(target, type) else inspect.signature(cast(Any, target)).parameters
            defaults = {name: argument.default for name, argument in signature.items()}
            target.__doc__ = with_section(inspect.cleandoc(target.__doc__), kind, defaults or None)
        if isinstance(target, type) and "__init__" not in vars(target):
            target.__init__ = at_the_door(target.__init__, target.__name__)  # type: ignore[misc]
        return target

    return describe


def with_section(text: str, kind: object, defaults: Mapping[str, object] | None = None) -> str:
    """Return a docstring with the parameters of a dataclass before its first section, or behind those it has.

    `defaults`: which parameters, and their defaults; by default all, as the dataclass has them. Those that the text
    describes are left out.
    """
    lines = text.split("\n")
    sections = [place - 1 for place, line in enumerate(lines) if line and not line.strip("-") and place]
    titles = [lines[place] for place in sections]
    described = {name for line in lines if line[:1].isalpha() for name in line.partition(" :")[0].split(", ")}
    section = list(_section(kind, described, defaults))
    if "Parameters" in titles:
        following = sections[titles.index("Parameters") + 1 :]
        place = following[0] if following else len(lines)
        while not lines[place - 1].strip():
            place -= 1
        return "\n".join([*lines[:place], *section, *lines[place:]])
    place = sections[0] if sections else len(lines)
    before = [*lines[:place], *([] if sections else [""])]
    return "\n".join([*before, "Parameters", "----------", *section, "", *lines[place:]]).rstrip()


def _section(kind: Any, described: Collection[str], defaults: Mapping[str, object] | None) -> Iterator[str]:
    types = {item.name: item.type for item in fields(kind)}
    for name, parameter in parameters_of(kind).items():
        if name in described or (defaults is not None and name not in defaults):
            continue
        value = parameter.default if defaults is None else defaults[name]
        default = "optional" if value is None else f"default {value!r}"
        words = "{" + ", ".join(map(repr, parameter.choices)) + "}" if parameter.choices else ""
        number = "number" if parameter.choices and parameter.has_range else ""
        kind_of = parameter.type or " or ".join(filter(None, (words, number))) or types[name]
        yield f"{name} : {kind_of}, {default}"
        yield from textwrap.wrap(parameter.about, 116, initial_indent="    ", subsequent_indent="    ")


def _is_number(value: Any, *, is_whole: bool) -> bool:
    if isinstance(value, bool) or type(value).__name__ == "bool":  # numpy's too
        return False
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    if isinstance(value, str) or math.isnan(number):
        return False
    return not is_whole or hasattr(value, "__index__")
