"""The plain formulas of the registry, ``sum_i max_j n_ij / n_i``, as LaTeX, so that the site can typeset them.

A formula is mathematics mixed with words ("per cluster max_j n_ij / n_i"). What is no known symbol is a word. A slash
divides what is multiplied before it by the one factor after it; a sum, mean, maximum or minimum reaches over the
product that follows it, slash included. Parentheses around the parts of a fraction go once it has a bar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

GREEK = frozenset(["alpha", "beta", "rho", "mu", "kappa", "sigma", "delta", "Delta", "pi", "lambda", "phi"])
UPRIGHT = frozenset(
    ["TP", "FP", "FN", "TN", "Pu", "IP", "tp", "fp", "fn", "RSS", "SC", "Adh", "ICS", "VI", "FM", "Rand", "CG", "match"]
)
OPERATORS = {"sum": r"\sum", "max": r"\max", "min": r"\min"} | {
    name: rf"\operatorname{{{name}}}" for name in ("mean", "avg", "argmax")
}
PREFIXES = {"log": r"\log", "tr": r"\operatorname{tr}"}  # reach over one factor
CALLS = frozenset(
    [
        "H",
        "I",
        "D",
        "p",
        "W",
        "L",
        "m",
        "v",
        "log",
        "sqrt",
        "max",
        "min",
        "mean",
        "cumsum",
        "average",
        "sd",
        "same",
        "delta",
        "Delta",
    ]
)
RELATIONS = {
    "=": "=",
    "<": "<",
    ">": ">",
    "<=": r"\le",
    ">=": r"\ge",
    "!=": r"\ne",
    "in": r"\in",
    "&": r"\cap",
    "+": "+",
    "-": "-",
    "..": r",\ldots,",
    ",": ",",
    ":": ":",
}

SAID_BY_SYMBOL = ", b2 = beta^2"  # b2 is set as the square that it is

token = re.compile(
    r"(?P<word>[A-Za-z]+(?:-[A-Za-z]{2,})+|[a-z]{3,}_[a-z_]{4,}|[a-z]+=(?=\s))"
    r"|(?P<sign>s[+-](?=[\s)/,(]|$))"
    r"|(?P<number>\d+e-\d+|\d+(?:\.\d+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9]*'*)"
    r"|(?P<subscript>_(?:\{[^}]*\}|[A-Za-z0-9]+))"
    r"|(?P<other>\.\.\.|\.\.|<=|>=|!=|[-+/^=<>|().,;:&?])"
)


@dataclass(frozen=True)
class Token:
    """A piece of a formula, and whether white space comes before and after it."""

    kind: str
    text: str
    spaced: bool
    followed: bool


@dataclass(frozen=True)
class Run:
    """Words or mathematics, as far as they go."""

    is_words: bool
    text: str


def formula_lines(formula: str) -> list[list[Run]]:
    """Return the formula as lines (parts between semicolons), each made of words and LaTeX in turn.

    >>> [[(run.is_words, run.text) for run in line] for line in formula_lines("(1/n) sum_i n_ij^2 / n_i; per cluster")]
    [[(False, '\\\\frac{1}{n} \\\\sum_{i} \\\\frac{n_{ij}^{2}}{n_{i}}')], [(True, 'per cluster')]]
    """
    return [list(_merged(_Reader(tokens_of(part)).runs())) for part in formula.replace(SAID_BY_SYMBOL, "").split("; ")]


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a formula.

    Raises
    ------
    ValueError
        If it has a character that no formula has.
    """
    found, place = [], 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        match = token.match(text, place)
        if match is None:
            raise ValueError(f"the formula {text!r} has {text[place]!r}, which cannot be typeset")
        spaced = place > 0 and text[place - 1].isspace()
        place = match.end()
        followed = text[place : place + 1].isspace()
        found.append(Token(match.lastgroup or "", match[0], spaced, followed))
    return found


def _merged(runs: Iterator[Run]) -> Iterator[Run]:
    before: Run | None = None
    for run in runs:
        if before is not None and before.is_words and run.is_words:
            joint = "" if run.text in (",", ")", ":", ".") or before.text.endswith("(") else " "
            before = Run(True, before.text + joint + run.text)
            continue
        if before is not None:
            yield before
        before = run
    if before is not None:
        yield before


class _Reader:
    """Reads tokens from left to right; every method returns LaTeX and stops where its part ends."""

    def __init__(self, tokens: list[Token], *, has_no_words: bool = False) -> None:
        self.tokens = tokens
        self.has_no_words = has_no_words
        self.place = 0
        self.open_bars = 0  # absolute values that are not yet closed
        self.in_call = False  # a bar between the arguments of a function is a condition: H(T|C)

    def runs(self, *, stop: tuple[str, ...] = ()) -> Iterator[Run]:
        while self.place < len(self.tokens) and self.peek() not in stop:
            if self.is_word() or self.peek() in (",", ")", ":", ".", "/"):
                yield Run(True, self.take().text)
            elif self.peek() == "(" and self.has_words():
                self.take()
                yield Run(True, "(")
            else:
                start = self.place
                yield Run(False, self.expression(stop=stop))
                if self.place == start:
                    raise ValueError(f"{self.tokens[start].text!r} cannot be typeset")

    def peek(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.tokens[place].text if place < len(self.tokens) else ""

    def take(self) -> Token:
        self.place += 1
        return self.tokens[self.place - 1]

    def is_word(self, ahead: int = 0) -> bool:
        """Whether this is a word of English; "a" is one before a word, a sum without an operand is one too."""
        place = self.place + ahead
        if place >= len(self.tokens) or self.has_no_words:
            return False
        one = self.tokens[place]
        if one.kind == "word":
            return True
        if one.kind != "name":
            return False
        if one.text == "a":
            return self.is_word(ahead + 1)
        if one.text in ("mean", "sum", "max", "min", "average"):
            follows = self.tokens[place + 1] if place + 1 < len(self.tokens) else None
            return follows is None or follows.text in (")", ",") or self.is_word(ahead + 1)
        known = one.text in GREEK | UPRIGHT | set(OPERATORS) | set(PREFIXES) | CALLS
        return not known and re.fullmatch(r"[A-Za-z]'*|[A-Z]\d|b2", one.text) is None

    def has_words(self) -> bool:
        """Whether the parentheses that open here hold words."""
        depth = 0
        for ahead in range(len(self.tokens) - self.place):
            depth += {"(": 1, ")": -1}.get(self.peek(ahead), 0)
            if self.is_word(ahead) and self.peek(ahead) != "in":
                return True
            if depth == 0:
                return False
        return False

    def expression(self, *, stop: tuple[str, ...], listed: bool = False) -> str:
        """Terms with signs and relations between them; `listed`: commas and conditions too, as between parentheses."""
        parts = []
        while self.place < len(self.tokens) and self.peek() not in stop:
            text = self.peek()
            if listed and text == "|" and parts and parts[-1] not in RELATIONS.values():
                parts.append(r"\mid")
                self.take()
            elif text in RELATIONS and (listed or text not in (",", "in", ":")):
                parts.append(RELATIONS[text])
                self.take()
            elif text == "...":
                parts.append(r"\ldots")
                self.take()
            elif not self.begins_factor():
                break
            else:
                parts.append(self.term())
        return " ".join(parts)

    def begins_factor(self) -> bool:
        if self.place >= len(self.tokens) or self.is_word():
            return False
        one = self.tokens[self.place]
        if one.text == "in":
            return False
        return one.kind in ("number", "name", "sign") or (one.text in "(|" and not self.has_words())

    def term(self) -> str:
        """A product, in which each slash divides what was multiplied before it."""
        parts: list[str] = []
        kept = 0  # fractions in parentheses stand before the next bar
        while self.begins_factor() and not (parts and self.peek() == "|" and (self.open_bars or self.in_call)):
            bare = self.peek() == "("
            factor = self.factor()
            parts.append(factor)
            if bare and self.peek() != "/" and factor.startswith(r"\frac") and kept == len(parts) - 1:
                kept += 1
            while self.divides() or self.is_dot():
                if self.take().text == ".":
                    parts.append(r"\cdot " + self.factor())
                    continue
                below = _bare(self.factor())
                above = _bare(parts[kept]) if len(parts) - kept == 1 else _product(parts[kept:])
                parts = [*parts[:kept], _fraction(above, below)]
        return _product(parts)

    def divides(self) -> bool:
        return self.peek() == "/" and not self.is_word(1)

    def is_dot(self) -> bool:
        """Whether this is the dot of a product, which has no space after it, rather than a full stop."""
        return self.peek() == "." and self.place + 1 < len(self.tokens) and not self.tokens[self.place].followed

    def factor(self) -> str:
        """One factor with its subscript and power."""
        one = self.take()
        if one.kind == "number":
            text = _number(one.text)
        elif one.kind == "sign":
            text = f"s^{{{one.text[1]}}}"
        elif one.text == "(":
            text = self.inside_parentheses()
            text = rf"\left({text}\right)" if self.peek() == "^" else _parenthesised(text)
        elif one.text == "|":
            self.open_bars += 1
            text = rf"\left|{self.expression(stop=('|',), listed=False)}\right|"
            self.open_bars -= 1
            self.take()
        elif one.text == "-":
            text = f"-{self.factor()}"
        else:
            return self.named(one)
        return self.raised(text)

    def named(self, one: Token) -> str:
        """A symbol, a function of what is in its parentheses, or an operator over the product that follows."""
        name = one.text
        below = self.subscript()
        is_call = self.peek() == "(" and not self.tokens[self.place].spaced and name in CALLS
        if name == "sqrt":
            self.take()
            return self.raised(rf"\sqrt{{{self.inside_parentheses()}}}")
        if is_call:
            return self.call(name, below)
        if name in OPERATORS:
            operand = self.term() if self.begins_factor() else ""
            return f"{OPERATORS[name]}{below} {operand}".strip()
        if name in PREFIXES:
            return f"{PREFIXES[name]}{below} {self.factor()}"
        return self.raised(_symbol(name) + below)

    def call(self, name: str, below: str) -> str:
        head = {**OPERATORS, **PREFIXES}.get(name) or _symbol(name, roman=len(name) > 1)
        self.take()
        outside = self.open_bars, self.in_call
        self.open_bars, self.in_call = 0, True
        inner = self.inside_parentheses()
        self.open_bars, self.in_call = outside
        return self.raised(rf"{head}{below}\left({inner}\right)" + self.subscript())

    def inside_parentheses(self) -> str:
        """What is inside parentheses, words too, and past the closing one."""
        self.place -= 1
        has_words = self.has_words()
        self.place += 1
        if has_words:
            parts = list(_merged(self.runs(stop=(")",))))
            inner = " ".join(rf"\text{{ {part.text} }}" if part.is_words else part.text for part in parts)
        else:
            inner = self.expression(stop=(")",), listed=True)
        self.take()
        return inner

    def subscript(self) -> str:
        if self.place < len(self.tokens) and self.tokens[self.place].kind == "subscript":
            return f"_{{{_inside(self.take().text[1:])}}}"
        return ""

    def raised(self, text: str) -> str:
        below = self.subscript()
        if self.peek() != "^":
            return text + below
        self.take()
        power = _on_the_line(_bare(self.factor()))
        return f"{text}{below}^{{{power}}}"


def _inside(text: str) -> str:
    """Return the LaTeX of a subscript: letters stand for themselves, words are upright."""
    if text.startswith("{"):
        return _Reader(tokens_of(text[1:-1]), has_no_words=True).expression(stop=(), listed=True)
    if text in GREEK:
        return rf"\{text}"
    return text if len(text) < 3 and text not in ("in",) else rf"\mathrm{{{text}}}"


def _product(parts: list[str]) -> str:
    """Return the factors side by side, with a little space beside names of several letters."""
    return " ".join(
        rf"\, {part}" if place and r"\mathrm" in part[:8] + parts[place - 1][:8] else part
        for place, part in enumerate(parts)
    )


def _symbol(name: str, *, roman: bool = False) -> str:
    primes = name.count("'")
    name = name.rstrip("'")
    if name == "b2":
        text = r"\beta^{2}"
    elif name in GREEK:
        text = rf"\{name}"
    elif len(name) == 2 and name[1].isdigit():
        text = f"{name[0]}_{{{name[1]}}}"
    elif len(name) > 1 or roman:
        text = rf"\mathrm{{{name}}}"
    else:
        text = name
    return text + "'" * primes


def _number(text: str) -> str:
    return f"10^{{-{text.split('e-')[1]}}}" if "e-" in text else text


def _parenthesised(inner: str) -> str:
    """Return `inner` in parentheses, which a lone fraction does not need."""
    alone = inner.startswith(r"\frac") and _end_of_fraction(inner) == len(inner)
    return inner if alone else rf"\left({inner}\right)"


def _end_of_fraction(text: str) -> int:
    place = len(r"\frac")
    for _ in range(2):
        depth = 0
        while True:
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            place += 1
            if depth == 0:
                break
    return place


def _bare(text: str) -> str:
    """Return the text without the parentheses around all of it."""
    opening, closing = r"\left(", r"\right)"
    if not (text.startswith(opening) and text.endswith(closing)):
        return text
    depth = 0
    for found in re.finditer(r"\\left[(|]|\\right[)|]", text):
        depth += 1 if found[0].startswith(r"\left") else -1
        if depth == 0:
            return text[len(opening) : -len(closing)] if found.end() == len(text) else text
    return text


def _fraction(above: str, below: str) -> str:
    """Return above over below; simple fractions inside a fraction are written on the line."""
    return rf"\frac{{{_on_the_line(above)}}}{{{_on_the_line(below)}}}"


def _on_the_line(text: str) -> str:
    """Return a simple fraction with a slash instead of a bar."""
    return re.sub(r"^\\frac\{([^+ -]+)\}\{([^+ -]+)\}$", r"\1 / \2", text)
