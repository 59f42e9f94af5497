"""What measures take besides their evidence, checked: beta, the base of logarithms."""

from __future__ import annotations

import math

from doccluster.errors import InputError


def check_beta(beta: float) -> float:
    """Return `beta` as a float >= 0 (infinity is legal: recall alone), or raise InputError."""
    try:
        number = float(beta)
    except (TypeError, ValueError) as error:
        raise InputError("is not a number", argument="beta", received=beta, remedy="give beta >= 0") from error
    if math.isnan(number) or number < 0:
        raise InputError(
            "is not a weight", argument="beta", received=beta, remedy="give beta >= 0 (above 1 recall weighs more)"
        )
    return number


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Return (1 + b2) P R / (b2 P + R) with b2 = beta^2; 0 where both are 0 or one is."""
    if precision == 0 or recall == 0:
        return 0.0
    if math.isinf(beta):
        return recall
    return (1 + beta * beta) * precision * recall / (beta * beta * precision + recall)


def log_unit(base: float | None) -> float:
    """Return the divisor that turns nats into units of `base` (None: nats), or raise InputError."""
    if base is None:
        return 1.0
    try:
        number = float(base)
    except (TypeError, ValueError) as error:
        raise InputError(
            "is not a number", argument="base", received=base, remedy="give 2 for bits, or leave it out for nats"
        ) from error
    if not number > 1 or math.isinf(number):
        raise InputError(
            "is not a base of logarithms above 1", argument="base", received=base, remedy="give 2 for bits"
        )
    return math.log(number)
