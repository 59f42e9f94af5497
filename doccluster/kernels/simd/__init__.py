"""What numba does not make fast enough, built by hand as LLVM code: products with lines of a table."""

from doccluster.kernels.simd.half_precision import round_line_to_half as round_line_to_half
from doccluster.kernels.simd.line_sums import sum_lines as sum_lines
from doccluster.kernels.simd.line_sums import sum_lines_and_peaks as sum_lines_and_peaks
