"""What `report stale` says of figures that are kept."""

import importlib.machinery
import importlib.util
import pathlib
import unittest
import unittest.mock

PATH = pathlib.Path(__file__).with_name("report")
LOADER = importlib.machinery.SourceFileLoader("report", str(PATH))
report = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("report", LOADER))
LOADER.exec_module(report)


@unittest.mock.patch.object(report, "BENCHES", {"a": "run a", "b": "run b"})
@unittest.mock.patch.object(report, "is_in_history",
                            lambda commit: commit == "old")
class ReportTest(unittest.TestCase):
    def setUp(self):
        self.kept = {name: {"commit": "old", "command": f"run {name}",
                            "figures": [["what", "wanted", "got"]]}
                     for name in "ab"}

    def test_figures_of_today(self):
        self.assertEqual(report.find_stale(self.kept), [])

    def test_each_way_to_be_stale(self):
        self.kept["a"].update(command="run c", commit="lost")
        del self.kept["b"]
        command, commit, missing = report.find_stale(self.kept)
        self.assertIn("run c", command)
        self.assertIn("lost", commit)
        self.assertEqual(missing, "b has no figure")

    def test_a_bench_that_is_gone(self):
        self.kept["c"] = self.kept["a"]
        self.assertEqual(report.find_stale(self.kept), ["c is no bench"])


if __name__ == "__main__":
    unittest.main()
