#!/usr/bin/env python3
"""What docs/operating/slurm.md says, in jobs of a real Slurm.

  tests/integration/slurm_test.py PROGRAM

Exit status 77: this machine does not let us start one.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import slurm_cluster

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/docs"))
import blocks

PAGE = ROOT / "docs/operating/slurm.md"
SCRIPT = ROOT / "deploy/slurm/plan-and-train.sbatch"
IDLE_SCRIPT = ROOT / "deploy/slurm/idle-worker.sbatch"
MODEL = ROOT / "tests/golden/hlo/adam.hlo"
# Five programs on one device.
LAYERS = ROOT / "tests/testdata/t5_tiny.hlo.pb"
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
        cls.slurm = cls.enterClassContext(
            slurm_cluster.SlurmCluster(NODES, gpus=2))
        cls.programs = pathlib.Path(sys.argv[1]).resolve().parent
        cls.slurm.environment["PATH"] = \
            f"{cls.programs}:{cls.slurm.environment['PATH']}"
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

    def write_stand_ins(self, scripts: dict[str, str]) -> str:
        """PATH with bin/. The real `up` is in real/, with its worker."""
        for folder in ("bin", "real"):
            (self.folder / folder).mkdir()
        shutil.copy(self.programs / "meshwright", self.folder / "real")
        for name, text in scripts.items():
            path = self.folder / name
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        return f"{self.folder}/bin:{self.slurm.environment['PATH']}"

    def plan(self, name: str) -> dict:
        return json.loads((self.folder / name).read_text())

    def expect_nothing_left(self) -> None:
        # Slurm goes on completing a job whose processes have ended.
        self.slurm.wait_until(
            lambda: not self.slurm.run(["squeue", "--noheader"]).stdout,
            "the end of the last job")
        self.assertEqual(slurm_cluster.find_processes("meshwright-"), [])
        self.assertEqual(list(self.folder.glob(".meshwright-*")), [])

    def expect_known(self, again: dict, plan: dict) -> None:
        self.assertEqual(again["programs"]["profiled"], 0)
        self.assertEqual(again["programs"]["cached"],
                         plan["programs"]["profiled"])

    def start_coordinator(self) -> str:
        """Its address."""
        coordinator = subprocess.Popen(
            [self.programs / "meshwright-coordinator", "--json", "--listen",
             "127.0.0.1:0", "--store", self.folder / "service.db"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(coordinator.stdout.close)
        self.addCleanup(coordinator.wait)
        self.addCleanup(coordinator.terminate)
        return json.loads(coordinator.stdout.readline())["address"]

    def submit_job(self, *words: str) -> str:
        job = self.slurm.run(["sbatch", "--parsable", *words],
                             folder=self.folder).stdout.strip()
        self.addCleanup(self.slurm.run, ["scancel", job], check=False)
        return job

    def submit_idle_worker(self, node: str, address: str, run_ns: int) -> str:
        """With a made-up GPU, whose programs all take so long."""
        plugin = self.folder / node
        plugin.mkdir()
        doubles = self.programs.parent / "doubles"
        shutil.copy(doubles / "pjrt_double.so", plugin)
        (plugin / "pjrt_double.conf").write_text(
            f"devices 1\nrun_ns {run_ns}\n")
        # NVML lists nobody.
        (plugin / "processes").touch()
        variables = ",".join([
            "ALL", f"LD_LIBRARY_PATH={doubles}/nvidia/cu13/lib",
            f"NVML_DOUBLE_PROCESSES={plugin}/processes",
            "MESHWRIGHT_CALM_SECONDS=0", f"MESHWRIGHT_LOCK_FOLDER={plugin}"])
        return self.submit_job(
            "--partition", "spare", "--nodelist", node, "--export", variables,
            str(IDLE_SCRIPT), address, "--platform", "cuda", "--plugin",
            f"{plugin}/pjrt_double.so", "--name", node, "--idle-seconds", "0")

    def job_state(self, job: str) -> str:
        return self.slurm.run(["squeue", "--noheader", "--jobs", job,
                               "--format", "%T"]).stdout.strip()

    def ask(self, address: str, *words: str) -> dict:
        return json.loads(self.slurm.run(
            ["meshwright", *words, "--json", "--coordinator", address]).stdout)

    def worker_states(self, address: str) -> list[str]:
        listed = self.ask(address, "workers", "list")
        return [it["state"] for it in listed["workers"]]

    def test_a_training_job_preempts_a_worker_and_another_goes_on(self):
        address = self.start_coordinator()
        first = self.submit_idle_worker("node1", address, 150_000_000)
        plan = self.ask(address, "plans", "submit", str(LAYERS), "--mesh",
                        "1x1", "--platform", "cuda")["id"]
        self.slurm.wait_until(lambda: self.worker_states(address) == ["busy"],
                              "the first worker measures")
        training = self.submit_job("--nodelist", "node1", "--exclusive",
                                   "--wrap", "exec sleep 600")
        self.slurm.wait_until(lambda: self.job_state(training) == "RUNNING",
                              "the training job runs")
        # It left by itself: one whose connection broke would be listed as away.
        self.assertEqual(self.worker_states(address), [])
        self.assertEqual(self.job_state(first), "PENDING")
        self.assertNotIn(self.ask(address, "plans", "get", plan)["state"],
                         ("done", "failed", "cancelled"))

        self.submit_idle_worker("node2", address, 2_000_000)
        self.slurm.run(["meshwright", "plans", "watch", plan, "--coordinator",
                        address])
        record = self.ask(address, "plans", "get", plan)
        self.assertEqual(record["state"], "done")
        programs = record["plan"]["programs"]
        self.assertEqual(programs["failed"], 0)
        self.assertGreater(programs["profiled"], 0)
        machines = self.ask(address, "profiles", "stats")["machines"]
        self.assertEqual(sum(it["rows"] for it in machines),
                         programs["profiled"])

    def test_jobs_plan_train_and_go_away(self):
        job, _, prologue = self.blocks
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

    def test_the_scripts_start_one_process_a_node_whatever_tasks_a_job_has(
            self):
        """With stand-ins for the programs, which say where they start."""
        path = self.write_stand_ins({
            "bin/meshwright": "",
            "bin/meshwright-worker": 'echo worker >>"$SLURMD_NODENAME.txt"',
            "train.sh": 'echo step >>"$SLURMD_NODENAME.txt"'})
        tasks = "sbatch --wait --nodes 2 --ntasks-per-node 2"
        for script in (f"{SCRIPT.name} step.hlo 1x2 ./train.sh",
                       f"{IDLE_SCRIPT} 127.0.0.1:1"):
            self.run_block(f"{tasks} {script}", PATH=path)
        for node in self.slurm.nodes[:2]:
            self.assertEqual((self.folder / f"{node}.txt").read_text(),
                             "step\nworker\n")

    def test_workers_and_the_step_have_all_gpus_however_a_job_asked(self):
        """With stand-ins for worker and step, which say what they are given."""
        path = self.write_stand_ins({
            "bin/meshwright-worker":
                'echo "$SLURMD_NODENAME idle $CUDA_VISIBLE_DEVICES"'
                ' >>said.txt',
            "bin/meshwright":
                f"{self.folder}/real/meshwright up --slurm --platform cuda "
                "--store any.db -- true || true",
            "real/meshwright-worker":
                'for last; do :; done; '
                'echo "$SLURMD_NODENAME $last" >>said.txt',
            "train.sh":
                'echo "$SLURMD_NODENAME step $CUDA_VISIBLE_DEVICES"'
                ' >>said.txt'})
        said = self.folder / "said.txt"
        for asked in ("--gpus-per-node 2", "--gpus 4",
                      "--ntasks 4 --ntasks-per-node 2 --gpus-per-task 1",
                      "--ntasks 2 --ntasks-per-node 1 --gpus-per-task 2",
                      "--gpus 4 --ntasks-per-gpu 1",
                      "--gres gpu:2 --ntasks-per-gpu 1",
                      # As newer Slurms say it.
                      "--gpus-per-node 2 --export "
                      "ALL,SLURM_TRES_PER_TASK=cpu=1"):
            with self.subTest(asked):
                said.unlink(missing_ok=True)
                printed = "".join(self.run_block(
                    f"sbatch --wait --nodes 2 {asked} {script}", PATH=path)
                    for script in (f"{SCRIPT.name} step.hlo 1x2 ./train.sh",
                                   f"{IDLE_SCRIPT} 127.0.0.1:1"))
                self.assertEqual(
                    sorted(said.read_text().splitlines()),
                    [f"{node} {it}" for node in self.slurm.nodes[:2]
                     for it in ("0,", "1,", "idle 0,1", "step 0,1")], printed)

    def test_a_job_by_its_tasks_has_as_many_gpus_on_each_node(self):
        for asked in ("--gpus 3", "--ntasks 3 --gpus-per-task 1"):
            with self.subTest(asked):
                self.assertIn("3 GPUs on 2 nodes", self.run_block(
                    f"sbatch --wait --nodes 2 {asked} {SCRIPT.name} step.hlo "
                    "1x1 ./train.sh", status=2))

    def test_each_gpu_stands_for_a_mesh_over_the_nodes(self):
        """The page's block, with a stand-in worker that says its flags."""
        path = self.write_stand_ins({
            "bin/meshwright": f'{self.folder}/real/meshwright "$@" || true',
            "real/meshwright-worker":
                'all="$*"; echo "$SLURMD_NODENAME $CUDA_VISIBLE_DEVICES'
                ' ${all##*--drain-seconds 0 }" >>said.txt',
            "train.sh": "true"})
        said = self.folder / "said.txt"
        # Of as many devices as the job has GPUs, and of more.
        for mesh, size in (("2x2", 4), ("2x8", 16)):
            with self.subTest(mesh):
                said.unlink(missing_ok=True)
                printed = self.run_block(self.blocks[1].replace("2x2", mesh),
                                         PATH=path)
                self.assertTrue(said.exists(), printed)
                self.assertEqual(
                    sorted(said.read_text().splitlines()),
                    [f"{node} {gpu} --solo --devices {size}"
                     for node in self.slurm.nodes[:2] for gpu in (0, 1)],
                    printed)

    def test_a_plan_that_would_wait_for_ever_is_refused(self):
        gpus = {"SLURM_GPUS_ON_NODE": "2"}
        solo = "--solo --links links.json"
        for mesh, variables, words in (
                ("2x8", {}, "mesh 2x8 is larger than a node's 2 devices; set "
                 "MESHWRIGHT_DEVICES=16"),
                ("2x2", gpus | {"MESHWRIGHT_PLAN_FLAGS": solo}, "only one of"),
                ("1x2", gpus | {"MESHWRIGHT_UP_FLAGS": "--solo"},
                 "only one of"),
                ("2,2", gpus, "MESH like 1x8")):
            with self.subTest(mesh):
                self.assertIn(words, self.run_block(
                    f"bash {SCRIPT.name} step.hlo {mesh} ./train.sh", status=2,
                    SLURM_SUBMIT_DIR=".", SLURM_JOB_ID="1", **variables))

    def test_a_mesh_over_nodes_is_refused_without_solo(self):
        self.assertIn("mesh 2x2 is larger than a node's 2 GPUs", self.run_block(
            f"sbatch --wait --nodes 2 --gpus-per-node 2 {SCRIPT.name} "
            "step.hlo 2x2 ./train.sh", status=2))

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
