#!/usr/bin/env python3
"""How near the cluster detector comes to shaped links between namespaces.

  tests/bench/cluster_links.py [--bin build/release/bin] [--rounds 3]

Hosts are network namespaces whose links tc tbf holds to a speed. Bandwidth is
compared with the payload that the speed allows; latency with a set delay of a
relay and half a round trip of another program, and without the relay with the
latter alone. All run at real-time priority where that is permitted, and for
latencies each host on its own processor. Exit status 77: this machine does not
let us make links.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/integration"))

import cluster_hosts  # noqa: E402
import shaped_network  # noqa: E402

PRIORITY = ["chrt", "--rr", "1"]
SPEEDS = ((200, 200), (200, 50), (1000, 400))  # Mbit/s: of two hosts, a third
DELAY = 0.005


def off(got: float, wanted: float) -> float:
    return abs(got / wanted - 1)


class Bench:

    def __init__(self, options):
        self.rounds = options.rounds
        self.priority = PRIORITY
        if subprocess.run([*PRIORITY, "true"], capture_output=True).returncode:
            self.priority = []
        self.program = [*self.priority, str(options.bin / "meshwright")]

    def bandwidth(self) -> None:
        print("| link Mbit/s | allowed MB/s | detected MB/s | off |\n"
              "| --- | --- | --- | --- |")
        hosts = ["h0", "h1", "h2"]
        worst = 0.0
        for fast, slow in SPEEDS:
            with shaped_network.ShapedNetwork(
                    hosts, fast, slower={"h2": slow}) as network:
                for _ in range(self.rounds):
                    cluster = cluster_hosts.detect(
                        network, self.program, hosts, max_bytes="8MiB")
                    for pair, speed in ((("h0", "h1"), fast),
                                        (("h0", "h2"), slow),
                                        (("h1", "h2"), slow)):
                        link = cluster_hosts.find_link(cluster, *pair)
                        wanted = speed * 1e6 / 8 * network.payload_share
                        error = off(1 / link["beta"], wanted)
                        worst = max(worst, error)
                        print(f"| {speed} | {wanted / 1e6:.2f} | "
                              f"{1e-6 / link['beta']:.2f} | {error:.2%} |",
                              flush=True)
        print("figure\tshaped links of 50 to 1,000 Mbit/s: bandwidth off, "
              f"worst of {self.rounds} rounds\t≤ 3 %\t{worst:.2%}")

    def latency(self) -> None:
        print("\n| delay ms | expected us | detected us | off |\n"
              "| --- | --- | --- | --- |")
        worst = 0.0
        with shaped_network.ShapedNetwork(["h0", "h1"], 200) as network:
            for _ in range(self.rounds):
                for delay in (0.0, DELAY):
                    wanted = delay + cluster_hosts.ping(
                        network, "h0", "h1", self.priority, pinned=True)
                    cluster = cluster_hosts.detect(
                        network, self.program, ["h0", "h1"], delay=delay,
                        pinned=True)
                    link = cluster_hosts.find_link(cluster, "h0", "h1")
                    error = off(link["alpha"], wanted)
                    worst = max(worst, error)
                    print(f"| {delay * 1e3:g} | {wanted * 1e6:.1f} | "
                          f"{link['alpha'] * 1e6:.1f} | {error:.1%} |",
                          flush=True)
        print("figure\tlinks with no delay and with 5 ms: latency off, worst of "
              f"{self.rounds} rounds\t≤ 20 %\t{worst:.1%}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path,
                        default=ROOT / "build/release/bin")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    try:
        shaped_network.enter_private_network()
        bench = Bench(options)
        bench.bandwidth()
        bench.latency()
    except shaped_network.NotPermitted as reason:
        print(f"skipped: cluster_links: {reason}")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
