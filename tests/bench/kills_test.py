"""What kills.sh refuses before anything is killed."""

import pathlib
import subprocess
import unittest

SCRIPT = pathlib.Path(__file__).with_name("kills.sh")


class KillsTest(unittest.TestCase):
    def test_less_than_a_round_is_refused(self):
        for kills in ("0", "49", "many", ""):
            with self.subTest(kills=kills):
                done = subprocess.run([SCRIPT, kills, "1"], text=True,
                                      capture_output=True, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn("ask for 50 or more", done.stderr)


if __name__ == "__main__":
    unittest.main()
