"""The normaliser and the mean resultant length by the integrals that define them, in 30 digits."""

from __future__ import annotations

import mpmath

DIMENSIONS = (2, 3, 4, 5, 10, 57, 58, 59, 60, 61, 100, 1000, 10_000, 100_000)
CONCENTRATIONS = (0.0, 1e-6, 1e-3, 0.9, 10.0, 25.0, 29.99, 30.01, 1e3, 1e4, 1e5, 1e6, 1e7)


def defined_values(n_dimensions: int, kappa: float) -> tuple[float, float]:
    """Return log C_d + kappa and A_d by integrating exp(kappa cos t) sin^(d-2) t over the sphere, in 30 digits."""
    with mpmath.workdps(30):
        d, k = mpmath.mpf(n_dimensions), mpmath.mpf(kappa)
        cosine = 2 * k / ((d - 2) + mpmath.sqrt((d - 2) ** 2 + 4 * k * k)) if k else mpmath.mpf(0)
        peak = mpmath.acos(cosine) if n_dimensions > 2 else mpmath.mpf(0)

        def exponent(angle):
            sines = (d - 2) * mpmath.log(mpmath.sin(angle)) if n_dimensions > 2 else mpmath.mpf(0)
            return k * (mpmath.cos(angle) - 1) + sines

        def density(angle):
            if n_dimensions > 2 and not 0 < angle < mpmath.pi:
                return mpmath.mpf(n_dimensions == 2)
            return mpmath.exp(exponent(angle) - top)

        top = exponent(peak)
        curvature = k * mpmath.cos(peak) + ((d - 2) / mpmath.sin(peak) ** 2 if n_dimensions > 2 else 0)
        width = 1 / mpmath.sqrt(max(curvature, 1))
        inner = [peak + j * width for j in (-40, -20, -10, -5, 0, 5, 10, 20, 40)]
        points = sorted({mpmath.mpf(0), +mpmath.pi, *(point for point in inner if 0 < point < mpmath.pi)})
        mass = mpmath.quad(density, points)
        gap = mpmath.quad(lambda angle: (1 - mpmath.cos(angle)) * density(angle), points) / mass
        log_belt = mpmath.log(2) + (d - 1) / 2 * mpmath.log(mpmath.pi) - mpmath.loggamma((d - 1) / 2)
        return float(-(log_belt + mpmath.log(mass) + top)), float(1 - gap)
