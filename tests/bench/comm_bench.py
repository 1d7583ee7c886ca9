#!/usr/bin/env python3
"""How near the executor of reshardings comes to what its links allow.

  tests/bench/comm_bench.py [--bin build/release/bin] [--megabits 200]
      [--rounds 3] [--mtu 9000] [broadcast] [table2] [figure5] [figure6]

Eight network namespaces, s0..s3 and d0..d3, whose links tc tbf holds to
--megabits over whole Ethernet frames; one meshwright-comm per host (per device
in the figures), in the order that `meshwright reshard` gives. Every run is
timed from the word to start until every slice is verified everywhere; the best
and the median of --rounds are printed. Ranks run at real-time priority where
that is permitted, so that what else the machine does is not measured. Exit
status 77: this machine does not let us make links.
"""

import argparse
import math
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/integration"))

import comm_plan  # noqa: E402
import shaped_network  # noqa: E402
import table2  # noqa: E402

HOSTS = [f"s{i}" for i in range(4)] + [f"d{i}" for i in range(4)]
MIB = 1 << 20
PRIORITY = ("chrt", "--rr", "1")
STRATEGIES = ("send_receive", "local_all_gather", "global_all_gather",
              "broadcast")


class Bench:

    def __init__(self, options, network):
        self.options = options
        self.network = network
        self.program = [*PRIORITY, str(options.bin / "meshwright-comm")]
        if subprocess.run([*PRIORITY, "true"], capture_output=True).returncode:
            self.program = self.program[-1:]
        self.alpha = self._chunk_seconds()

    def _chunk_seconds(self) -> float:
        """What one more chunk costs on one link: alpha."""
        few, many = 8, 2048
        seconds = []
        for chunks in (few, many):
            task = comm_plan.task("t", 8 * MIB, "s0", ["d0"], chunks=chunks)
            plan = self._plan(["s0", "d0"], [task], alpha=1e-5)
            seconds.append(min(self._times(plan)))
        return max(0.0, (seconds[1] - seconds[0]) / (many - few))

    def _plan(self, ranks, tasks, alpha=None):
        return comm_plan.make_plan(
            self.network, ranks, tasks,
            self.alpha if alpha is None else alpha)

    def _times(self, plan) -> list[float]:
        return [comm_plan.makespan(self.network, self.program, plan)
                for _ in range(self.options.rounds)]

    def link_seconds(self, size: float) -> float:
        """Seconds that `size` bytes take at the speed of the link."""
        return size / self.network.bytes_per_second

    def broadcast(self) -> None:
        size = 32 * MIB
        bound = self.link_seconds(size)
        print("\n## Broadcast of 32 MiB from s0\n"
              f"bound (data / bandwidth): {bound:.3f} s; wanted: 97 %\n\n"
              "| receivers | chunk KiB | best s | median s | best | median |"
              "\n| --- | --- | --- | --- | --- | --- |")
        counts = (1, 2, 4, 7)
        shares = []
        for count in counts:
            task = comm_plan.task("t", size, "s0", HOSTS[:0:-1][:count])
            plan = self._plan(HOSTS, [task])
            chunk = self._chunk_bytes(plan)
            best, median = spread(self._times(plan))
            print(f"| {count} | {chunk / 1024:.0f} | {best:.3f} | {median:.3f} "
                  f"| {bound / best:.1%} | {bound / median:.1%} |", flush=True)
            shares.append(bound / best)
        print(f"figure\tbroadcast of 32 MiB to {', '.join(map(str, counts))} "
              "receivers, of the bound, worst\t≥ 97 %\t"
              f"{100 * min(shares):.1f} %")

    def _chunk_bytes(self, plan) -> int:
        """As the ranks choose it."""
        with comm_plan.Run(self.network, self.program, plan) as run:
            report = run.answers(300)["s0"].report
        return report["tasks"][0]["chunk_bytes"]

    def schedule(self, case, size: int) -> table2.Schedule:
        return table2.schedule(self.options.bin / "meshwright", case, size,
                               self.network.bytes_per_second)

    def table2(self) -> None:
        total = self.options.tensor_mib * MIB
        print(f"\n## The nine cases of Table 2, a tensor of "
              f"{self.options.tensor_mib} MiB; wanted: 95 % of the schedule\n\n"
              "| case | tasks | scheduled s | proven | best s | median s | best "
              "| median |\n"
              "| --- | --- | --- | --- | --- | --- | --- | --- |")
        worst = math.inf
        for case in table2.CASES:
            schedule = self.schedule(case, total)
            plan = self._plan(HOSTS, [
                comm_plan.task(step.name, step.size, step.sender,
                               step.receiver_hosts)
                for step in schedule.steps])
            bound = schedule.seconds
            best, median = spread(self._times(plan))
            worst = min(worst, bound / best)
            print(f"| {case[0]} | {len(schedule.steps)} | {bound:.3f} | "
                  f"{'yes' if schedule.optimal else 'open'} | {best:.3f} | "
                  f"{median:.3f} | {bound / best:.1%} | {bound / median:.1%} |",
                  flush=True)
        print("figure\tthe nine cases of Table 2, of the schedule, worst"
              f"\t≥ 95 %\t{100 * worst:.1f} %")

    def figure5(self) -> None:
        size = self.options.figure_mib * MIB
        unit = self.link_seconds(size)
        print(f"\n## Figure 5: {self.options.figure_mib} MiB from one device, "
              f"in units of t = {unit:.3f} s\n\n| nodes x devices | "
              + " | ".join(STRATEGIES) + " |\n" + "| --- " * 5 + "|")
        for nodes, devices in [(1, n) for n in (1, 2, 3, 4)] + [
                (n, 2) for n in (1, 2, 3, 4)]:
            receivers = [f"d{n}.{i}" for n in range(nodes)
                         for i in range(devices)]
            row = []
            for strategy in STRATEGIES:
                task = comm_plan.task("t", size, "s0", receivers, strategy)
                plan = self._plan(["s0", *receivers], [task])
                row.append(min(self._times(plan)) / unit)
            print(f"| {nodes} x {devices} | "
                  + " | ".join(f"{x:.2f}" for x in row) + " |", flush=True)
        # That of the last setup, the largest.
        print(f"figure\tFig. 5, one device to {nodes} x {devices}: fastest "
              "strategy of those before over broadcast\t≥ 1\t"
              f"{min(row[:-1]) / row[-1]:.2f}")

    def figure6(self) -> None:
        total = self.options.figure_mib * MIB
        print(f"\n## Figure 6: the nine cases, a tensor of "
              f"{self.options.figure_mib} MiB to every device, seconds\n\n"
              "| case | " + " | ".join(STRATEGIES) + " |\n"
              + "| --- " * 5 + "|")
        slowdowns = []  # of each strategy but broadcast in each case
        for case in table2.CASES:
            steps = self.schedule(case, total).steps
            ranks = sorted({step.sender for step in steps}) + sorted(
                {device for step in steps for device in step.receiver_devices})
            row = []
            for strategy in STRATEGIES:
                plan = self._plan(ranks, [
                    comm_plan.task(step.name, step.size, step.sender,
                                   step.receiver_devices, strategy)
                    for step in steps])
                row.append(min(self._times(plan)))
            slowdowns += [seconds / row[-1] for seconds in row[:-1]]
            print(f"| {case[0]} | "
                  + " | ".join(f"{x:.3f}" for x in row) + " |", flush=True)
        print("figure\tFig. 6, nine cases: fastest strategy of those before over "
              f"broadcast, minimum\t≥ 1\t{min(slowdowns):.2f}")


def spread(times: list[float]) -> tuple[float, float]:
    return min(times), statistics.median(times)


def main() -> int:
    parts = ("broadcast", "table2", "figure5", "figure6")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path,
                        default=ROOT / "build/release/bin")
    parser.add_argument("--megabits", type=float, default=200)
    parser.add_argument("--mtu", type=int, default=shaped_network.MTU)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tensor-mib", type=int, default=64)
    parser.add_argument("--figure-mib", type=int, default=8)
    parser.add_argument("parts", nargs="*")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts):
        parser.error(f"{' '.join(unknown)} is none of {', '.join(parts)}")
    try:
        shaped_network.enter_private_network()
        network = shaped_network.ShapedNetwork(HOSTS, options.megabits,
                                               options.mtu)
        with network:
            bench = Bench(options, network)
            print(f"links of {options.megabits:g} Mbit/s, MTU {options.mtu}: "
                  f"payload is {network.payload_share:.2%} of what is sent; "
                  f"a chunk costs {bench.alpha * 1e6:.1f} us; priority: "
                  f"{' '.join(bench.program[:-1]) or 'as given'}")
            for part in options.parts or parts:
                getattr(bench, part)()
    except shaped_network.NotPermitted as reason:
        print(f"skipped: comm_bench: {reason}")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
