#!/usr/bin/env python3
"""meshwright-comm on four senders and four receivers with shaped links.

  tests/integration/comm_hosts_test.py PROGRAM

Exit status 77: this machine does not let us make such links.
"""

import pathlib
import random
import signal
import sys
import tempfile
import time
import unittest

import comm_plan
import shaped_network
from comm_plan import task

SENDERS = [f"s{i}" for i in range(4)]
RECEIVERS = [f"d{i}" for i in range(4)]
HOSTS = SENDERS + RECEIVERS
MEGABITS = 100
MIB = 1 << 20
OLD = b"old"
PROGRAM = sys.argv[1:2]


class CommHostsTest(unittest.TestCase):

    def setUp(self):
        self.network = self.enterContext(
            shaped_network.ShapedNetwork(HOSTS, MEGABITS))
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory()))

    def start(self, tasks: list[dict], absent: str = "",
              **more) -> comm_plan.Run:
        """Slices in files; every receiver has an old one of each."""
        self.tasks = tasks
        randomness = random.Random(1)
        options = {}
        for host in HOSTS:
            source = self.folder / host / "in"
            target = self.folder / host / "out"
            source.mkdir(parents=True)
            target.mkdir()
            options[host] = ["--input", str(source), "--output", str(target)]
        for made in tasks:
            data = randomness.randbytes(made["size_bytes"])
            (self.folder / made["sender"] / "in" / made["id"]).write_bytes(data)
            for host in made["receivers"]:
                (self.folder / host / "out" / made["id"]).write_bytes(OLD)
        plan = comm_plan.make_plan(self.network, HOSTS, tasks, 1e-5, **more)
        return self.enterContext(
            comm_plan.Run(self.network, PROGRAM, plan, options, absent))

    def outputs(self):
        for made in self.tasks:
            source = self.folder / made["sender"] / "in" / made["id"]
            for host in made["receivers"]:
                yield (made["id"], host, source.read_bytes(),
                       (self.folder / host / "out" / made["id"]).read_bytes())

    def expect_error_everywhere(self, run, text: str, but: str = ""):
        for host, answer in run.answers(60).items():
            if host == but:
                continue
            self.assertEqual(answer.status, 1, host)
            self.assertIn(text, answer.errors, host)
            self.assertEqual(answer.errors.count("\n"), 1, answer.errors)
            self.assertFalse(answer.report["ok"])
        for name, host, _, there in self.outputs():
            self.assertEqual(there, OLD, f"{name} at {host}")

    def wait_until_received(self, host: str, size: int) -> None:
        while self.network.received_bytes(host) < size:
            pass

    def test_every_strategy_and_tasks_at_once(self):
        tasks = [
            task("wide", 2 * MIB + 1, "s0", RECEIVERS),
            task("parts", MIB + 3, "s1", RECEIVERS, "global_all_gather"),
            task("local", MIB, "s2", RECEIVERS[:2], "local_all_gather"),
            task("copies", MIB, "s3", RECEIVERS[2:], "send_receive"),
            task("back", MIB, "d0", ["s0", "s1"]),
        ]
        run = self.start(tasks)
        for host, answer in run.answers(60).items():
            self.assertEqual(answer.status, 0, answer.errors)
            for report in answer.report["tasks"]:
                self.assertEqual(report["verdict"], "match", host)
        for name, host, wanted, there in self.outputs():
            self.assertEqual(there, wanted, f"{name} at {host}")

    def test_no_run_is_faster_than_its_links(self):
        size = 4 * MIB
        run = self.start([task("slice", size, "s0", RECEIVERS)])
        answers = run.answers(60)
        bound = (size - shaped_network.BURST_BYTES) / (
            self.network.bytes_per_second)
        for answer in answers.values():
            self.assertEqual(answer.status, 0, answer.errors)
            self.assertGreaterEqual(answer.report["makespan_s"], bound)

    def test_a_killed_rank_is_an_error_on_every_other(self):
        run = self.start([task("before", 1000, "s1", ["d2", "d3"]),
                          task("slice", 32 * MIB, "s0", RECEIVERS)])
        self.wait_until_received("d2", 2 * MIB)
        run.processes["d2"].send_signal(signal.SIGKILL)
        self.expect_error_everywhere(run, "host d2 was lost", but="d2")

    def test_a_stopped_rank_is_an_error_on_every_other(self):
        run = self.start([task("slice", 32 * MIB, "s0", RECEIVERS)],
                         deadline_seconds=4)
        self.wait_until_received("d1", 2 * MIB)
        run.processes["d1"].send_signal(signal.SIGSTOP)
        self.addCleanup(run.processes["d1"].kill)
        self.expect_error_everywhere_but_stopped(run, "d1")

    def expect_error_everywhere_but_stopped(self, run, stopped: str):
        process = run.processes.pop(stopped)
        self.expect_error_everywhere(run, " for 2 s")
        process.kill()
        process.communicate()

    def test_a_dead_link_is_an_error_on_every_rank_in_time(self):
        deadline = 8
        run = self.start([task("slice", 32 * MIB, "s0", RECEIVERS)],
                         deadline_seconds=deadline)
        self.wait_until_received("d1", 2 * MIB)
        self.network.cut("d1")
        began = time.monotonic()
        self.expect_error_everywhere(run, " for 4 s")
        self.assertLess(time.monotonic() - began, deadline)

    def test_an_unreachable_host_is_named(self):
        run = self.start([task("slice", MIB, "s0", ["d0", "d1"])],
                         absent="d1", connect_seconds=2)
        self.expect_error_everywhere(run, "host d1 at 10.77.0.6:7005 has not "
                                          "called within 2 s")


if __name__ == "__main__":
    shaped_network.run_tests(PROGRAM, __doc__, MEGABITS)
