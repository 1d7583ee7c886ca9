#!/usr/bin/env python3
"""What docs/operating/slurm.md says, in jobs of a real Slurm.

  tests/integration/slurm_test.py PROGRAM

Exit status 77: this machine does not let us start one.
"""

import json
import pathlib
import re
import shutil
import sys
import unittest

import slurm_cluster

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/docs"))
import blocks

PAGE = ROOT / "docs/operating/slurm.md"
SCRIPT = ROOT / "deploy/slurm/plan-and-train.sbatch"
MODEL = ROOT / "tests/golden/hlo/adam.hlo"
NODES = 3
# It leaves what it was handed, by the name of its node.
TRAIN = """\
#!/bin/sh
cp "$MESHWRIGHT_PLAN" "trained-$SLURMD_NODENAME.json"
pgrep --list-full meshwright-worker >"beside-$SLURMD_NODENAME.txt"
exit "${TRAIN_STATUS:-0}"
"""


class SlurmTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.slurm = cls.enterClassContext(slurm_cluster.SlurmCluster(NODES))
        programs = pathlib.Path(sys.argv[1]).resolve().parent
        cls.slurm.environment["PATH"] = \
            f"{programs}:{cls.slurm.environment['PATH']}"
        cls.slurm.environment["XDG_DATA_HOME"] = str(cls.slurm.folder / "data")
        cls.slurm.environment["MESHWRIGHT_DEVICES"] = "2"
        cls.blocks = [it.text for it in blocks.find_blocks(PAGE.read_text())
                      if it.needs == "hosts"]

    def setUp(self):
        self.folder = self.slurm.folder / self._testMethodName
        self.folder.mkdir()
        shutil.copy(SCRIPT, self.folder)
        shutil.copy(MODEL, self.folder / "step.hlo")
        train = self.folder / "train.sh"
        train.write_text(TRAIN)
        train.chmod(0o755)

    def run_block(self, block: str, status: int = 0, **variables: str) -> str:
        """The page's commands; what the job or the command printed."""
        done = self.slurm.run(["bash", "-ec", block], check=False,
                              folder=self.folder, variables=variables)
        printed = done.stdout + done.stderr
        job = re.search(r"Submitted batch job (\d+)", printed)
        if job:
            self.job = job[1]
            printed += (self.folder / f"slurm-{self.job}.out").read_text()
        self.assertEqual(done.returncode, status, printed)
        return printed

    def plan(self, name: str) -> dict:
        return json.loads((self.folder / name).read_text())

    def expect_nothing_left(self) -> None:
        self.assertEqual(self.slurm.run(["squeue", "--noheader"]).stdout, "")
        self.assertEqual(slurm_cluster.find_processes("meshwright-"), [])
        self.assertEqual(list(self.folder.glob(".meshwright-*")), [])

    def expect_known(self, again: dict, plan: dict) -> None:
        self.assertEqual(again["programs"]["profiled"], 0)
        self.assertEqual(again["programs"]["cached"],
                         plan["programs"]["profiled"])

    def test_jobs_plan_train_and_go_away(self):
        job, prologue = self.blocks
        printed = self.run_block(job)
        plan = self.plan(f"plan-{self.job}.json")
        self.assertEqual(plan["mesh"], [1, 2])
        self.assertGreater(plan["programs"]["profiled"], 0, printed)
        for node in self.slurm.nodes[:2]:
            self.assertEqual(self.plan(f"trained-{node}.json"), plan)
            # The devices are the step's alone.
            beside = (self.folder / f"beside-{node}.txt").read_text()
            self.assertEqual(beside, "")
        # A worker came from each node.
        self.assertEqual(set(re.findall(r"^(\d+): .*worker", printed, re.M)),
                         {"0", "1"}, printed)
        self.expect_nothing_left()

        # The same store answers the next job, whose step fails.
        self.run_block(job, status=3, TRAIN_STATUS="3")
        self.expect_known(self.plan(f"plan-{self.job}.json"), plan)
        self.expect_nothing_left()

        # And a prologue.
        self.run_block(prologue)
        self.expect_known(self.plan("known.json"), plan)
        self.expect_nothing_left()

    def test_outside_a_job_the_way_in_is_named(self):
        self.assertIn("sbatch", self.run_block("meshwright up --slurm",
                                               status=2))


if __name__ == "__main__":
    try:
        slurm_cluster.enter_private_machine()
    except slurm_cluster.NotPermitted as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
