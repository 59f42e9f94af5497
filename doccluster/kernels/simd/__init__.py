"""What numba does not make fast enough, built by hand as LLVM code, and a plain twin of each for other LLVM versions.

`line_sums` and `line_extremes` build code; `twins` says the same in numba. Which of the two is used
is decided when the package is imported (`kernels.hand_built`); the rest of `kernels` takes the names from here.
"""

from doccluster.kernels.hand_built import is_built_by_hand

if is_built_by_hand():
    from doccluster.kernels.simd.half_precision import round_line_to_half
    from doccluster.kernels.simd.line_extremes import highest_of_lines, lane_holding
    from doccluster.kernels.simd.line_sums import prefetch, sum_lines, sum_lines_and_peaks
else:
    from doccluster.kernels.simd.twins import (
        highest_of_lines,
        lane_holding,
        prefetch,
        round_line_to_half,
        sum_lines,
        sum_lines_and_peaks,
    )

__all__ = [
    "highest_of_lines",
    "lane_holding",
    "prefetch",
    "round_line_to_half",
    "sum_lines",
    "sum_lines_and_peaks",
]
