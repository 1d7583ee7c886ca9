"""Which rows benches count as flagged, and what they hold wall time to."""

import unittest

import families
import row_trust

GOOD, NOISY = 1, 2


class FlaggedTest(unittest.TestCase):
    def flag(self, anchors):
        rows = {n: (GOOD, 1000, anchor) for n, anchor in enumerate(anchors)}
        return len(row_trust.flagged(rows))

    def test_one_lucky_anchor_flags_nothing(self):
        self.assertEqual(self.flag([26] * 20 + [23]), 0)

    def test_rows_of_a_slow_period_are_flagged(self):
        self.assertEqual(self.flag([26] * 10 + [20] * 10), 10)

    def test_rows_that_are_not_good_are_flagged(self):
        rows = {"a": (NOISY, 1000, 20), "b": (GOOD, 1000, 20)}
        self.assertEqual(row_trust.flagged(rows), {"a"})


class IdealWallTest(unittest.TestCase):
    def test_one_thread_compiles_where_there_are_two_cores(self):
        spent = {"compile": 120, "profile": 180}
        self.assertEqual(families.ideal_wall(spent, 2), 60 + 60)

    def test_four_threads_compile_where_there_are_many_cores(self):
        spent = {"compile": 120, "profile": 90}
        self.assertEqual(families.ideal_wall(spent, 16), 7.5 + 60)


if __name__ == "__main__":
    unittest.main()
