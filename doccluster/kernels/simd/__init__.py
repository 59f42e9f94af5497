"""What numba does not make fast enough, built by hand as LLVM code: products with lines of a table."""
