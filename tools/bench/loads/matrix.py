# SPDX-License-Identifier: GPL-2.0-only
"""
Numpy on a matrix larger than memory: matrix.py SIDE, an odd number.

A[i][j] is (i + 2j) mod SIDE, so that what comes of it is known: products with a vector from both sides, sums of rows
and of columns, and the transposed matrix, made in its own place. All numbers are integers that a double holds exactly.
"""

import sys

import numpy

BLOCK = 256  # rows and columns that are transposed at once


class Tally:
    verified = bad = 0

    def check(self, found, expected):
        right = found == expected
        self.verified += right.size
        self.bad += int(right.size - numpy.count_nonzero(right))


def row(side, i):
    return (i + 2 * numpy.arange(side)) % side


def column(side, j):
    return (2 * j + numpy.arange(side)) % side


def product(first, side, vector, wraps):
    """
    The line FIRST and those after it, each one more, modulo SIDE, times VECTOR. Number WRAPS[k] of line k is the
    largest, so that it is 0 in the next.
    """
    steps = vector.sum() - side * vector[wraps[:-1]]
    return first @ vector + numpy.concatenate(([0.0], numpy.cumsum(steps)))


def transpose(matrix):
    side = len(matrix)
    for top in range(0, side, BLOCK):
        down = slice(top, top + BLOCK)
        for left in range(top, side, BLOCK):
            right = slice(left, left + BLOCK)
            block = matrix[down, right].copy()
            matrix[down, right] = matrix[right, down].T
            matrix[right, down] = block.T


def main():
    side = int(sys.argv[1])
    tally = Tally()
    matrix = numpy.empty((side, side))
    for i in range(side):
        matrix[i] = row(side, i)

    places = numpy.arange(side)
    vector = places % 97.0
    half = (side + 1) // 2  # 2 * half is 1
    tally.check(matrix @ vector, product(row(side, 0), side, vector, (side - 1 - places) * half % side))
    tally.check(matrix.sum(axis=0), side * (side - 1) / 2)
    tally.check(matrix.sum(axis=1), side * (side - 1) / 2)
    transpose(matrix)
    tally.check(vector @ matrix, product(row(side, 0), side, vector, (side - 1 - places) * half % side))
    for i in range(side):
        tally.check(matrix[i], column(side, i))
    print(f"verified {tally.verified} objects, {tally.bad} bad")
    return 1 if tally.bad else 0


sys.exit(main())
