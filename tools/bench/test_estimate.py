# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the estimate of the time left, by a clock of their own."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from benchlib import estimate  # noqa: E402


class Estimates(unittest.TestCase):
    def setUp(self):
        self.now = 1000
        todo = [("brd", "c1"), ("brd", "c1"), ("brd", "sor"), ("nvme", "c1"), ("nvme", "lu")]
        self.estimate = estimate.Estimate(todo, (lambda key: key, lambda key: key[1]), lambda key: 60,
                                          lambda: self.now)

    def pass_time(self, seconds):
        self.now += seconds

    def test_guesses_before_anything_is_known(self):
        self.assertEqual(self.estimate.seconds(), 5 * 60)

    def test_learns_from_what_is_alike(self):
        self.pass_time(7)
        self.estimate.ended(("brd", "c1"))
        self.assertEqual(self.estimate.seconds(), 7 + 60 + 7 + 60)
        self.pass_time(30)
        self.estimate.ended(("nvme", "c1"))
        self.assertEqual(self.estimate.seconds(), 7 + 60 + 60)

    def test_the_mean_of_what_it_took(self):
        for seconds in (4, 6):
            self.pass_time(seconds)
            self.estimate.ended(("brd", "c1"))
        self.assertEqual(self.estimate.seconds(), 60 + 5 + 60)

    def test_what_comes_before_is_not_counted(self):
        self.pass_time(100)
        self.estimate.begin()
        self.pass_time(3)
        self.estimate.ended(("brd", "c1"))
        self.assertEqual(self.estimate.seconds(), 3 + 60 + 3 + 60)

    def test_what_will_not_be_done(self):
        self.estimate.drop(lambda key: key[0] == "brd")
        self.assertEqual(self.estimate.seconds(), 2 * 60)


if __name__ == "__main__":
    unittest.main()
