"""Tables of many rows and some hundred columns: products that add up in one order, whatever the number of threads.

A library of linear algebra may split a sum by the number of its threads; these loops do not, so that the same seed
gives the same projection everywhere. The innermost loop always runs over the columns of the result, which the compiler
turns into vector instructions without changing the order of a sum.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

MOST_SWEEPS = 60  # of Jacobi's method, which needs about ten


@jit
def rows_times_table(rows, table):
    """Return the products of some rows (Csr) with a dense table; a third faster than scipy's, whose bytes they are."""
    indptr, indices, data = rows
    width = table.shape[1]
    out = np.zeros((indptr.size - 1, width))
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1]):
            value, term = data[position], indices[position]
            for column in range(width):
                out[row, column] += value * table[term, column]
    return out


@jit
def gram_of_rows(rows):
    """Return the sum of the outer products of the rows of a table with themselves; only its upper half is filled.

    Four rows are taken at a time, so that the sums, which a small cache does not hold, are read and written less often.
    """
    n_rows, width = rows.shape
    gram = np.zeros((width, width))
    in_fours = n_rows - n_rows % 4
    for row in range(0, in_fours, 4):
        r, s, t, u = rows[row], rows[row + 1], rows[row + 2], rows[row + 3]
        for one in range(width):
            for other in range(one, width):
                gram[one, other] += (r[one] * r[other] + s[one] * s[other]) + (t[one] * t[other] + u[one] * u[other])
    for row in range(in_fours, n_rows):
        for one in range(width):
            for other in range(one, width):
                gram[one, other] += rows[row, one] * rows[row, other]
    return gram


@jit
def turned_rows(rows, turn):
    """Return the rows of a table times a small matrix, four rows of which are read at a time."""
    n_inner, width = turn.shape
    out = np.zeros((rows.shape[0], width))
    in_fours = n_inner - n_inner % 4
    for row in range(rows.shape[0]):
        for inner in range(0, in_fours, 4):
            a, b, c, d = rows[row, inner], rows[row, inner + 1], rows[row, inner + 2], rows[row, inner + 3]
            r, s, t, u = turn[inner], turn[inner + 1], turn[inner + 2], turn[inner + 3]
            for column in range(width):
                out[row, column] += (a * r[column] + b * s[column]) + (c * t[column] + d * u[column])
        for inner in range(in_fours, n_inner):
            for column in range(width):
                out[row, column] += rows[row, inner] * turn[inner, column]
    return out


@jit
def orthogonalize(gram, negligible, turn):
    """Write the coefficients that make columns with this Gram matrix orthonormal; return how many columns are left.

    Gram and Schmidt's method on the coefficients; a column of which no more than the share `negligible` of its squared
    length is left, once its part in the ones before it is taken away, is left out.
    """
    size = gram.shape[0]
    products = np.empty(size)
    kept = 0
    for column in range(size):
        for row in range(size):
            turn[row, kept] = 1.0 if row == column else 0.0
        for _ in range(2):  # twice is enough (Kahan, in Parlett, The Symmetric Eigenvalue Problem, section 6.9)
            for row in range(size):
                products[row] = 0.0
                for inner in range(column + 1):
                    products[row] += gram[row, inner] * turn[inner, kept]
            for earlier in range(kept):
                overlap = 0.0
                for row in range(size):
                    overlap += turn[row, earlier] * products[row]
                for row in range(size):
                    turn[row, kept] -= overlap * turn[row, earlier]
        squared = 0.0
        for row in range(size):
            part = 0.0
            for inner in range(size):
                part += gram[row, inner] * turn[inner, kept]
            squared += turn[row, kept] * part
        if squared > negligible * gram[column, column]:
            for row in range(size):
                turn[row, kept] /= np.sqrt(squared)
            kept += 1
    return kept


@jit
def diagonalize(matrix, vectors):
    """Turn a symmetric matrix into its eigenvalues on the diagonal, and `vectors` into its eigenvectors as columns.

    Jacobi's method by rows (Golub & Van Loan, Matrix Computations, 4th edition, section 8.5).
    """
    size = matrix.shape[0]
    for one in range(size):
        for other in range(size):
            vectors[one, other] = 1.0 if one == other else 0.0
    for _ in range(MOST_SWEEPS):
        outside, inside = 0.0, 0.0
        for one in range(size):
            inside += matrix[one, one] ** 2
            for other in range(one + 1, size):
                outside += matrix[one, other] ** 2
        if outside <= 1e-30 * inside:
            break
        for one in range(size - 1):
            for other in range(one + 1, size):
                across = matrix[one, other]
                if across == 0.0:
                    continue
                slope = (matrix[other, other] - matrix[one, one]) / (2.0 * across)
                tangent = 1.0 / (abs(slope) + np.sqrt(slope * slope + 1.0))
                if slope < 0.0:
                    tangent = -tangent
                cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
                sine = tangent * cosine
                for column in range(size):
                    a, b = matrix[one, column], matrix[other, column]
                    matrix[one, column] = cosine * a - sine * b
                    matrix[other, column] = sine * a + cosine * b
                for row in range(size):
                    a, b = matrix[row, one], matrix[row, other]
                    matrix[row, one] = cosine * a - sine * b
                    matrix[row, other] = sine * a + cosine * b
                for row in range(size):
                    a, b = vectors[row, one], vectors[row, other]
                    vectors[row, one] = cosine * a - sine * b
                    vectors[row, other] = sine * a + cosine * b
