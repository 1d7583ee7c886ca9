#!/usr/bin/env python3
"""meshwright cluster detect on hosts with shaped links.

  tests/integration/cluster_hosts_test.py PROGRAM

Exit status 77: this machine does not let us make such links.
"""

import sys
import unittest

import cluster_hosts
import shaped_network

MEGABITS = 200
SLOW_MEGABITS = 50
PROGRAM = sys.argv[1:2]


class ClusterHostsTest(unittest.TestCase):

    def network(self, hosts: list[str], **more) -> shaped_network.ShapedNetwork:
        return self.enterContext(
            shaped_network.ShapedNetwork(hosts, MEGABITS, **more))

    def expect_bandwidth(self, network, link: dict, megabits: float) -> None:
        """Within what a machine with other work does to it; cluster_links of
        tests/bench holds the 3 %."""
        wanted = megabits * 1e6 / 8 * network.payload_share
        self.assertAlmostEqual(1 / link["beta"] / wanted, 1, delta=0.2)

    def test_bandwidths_make_the_classes(self):
        hosts = ["h0", "h1", "h2"]
        network = self.network(hosts, slower={"h2": SLOW_MEGABITS})
        cluster = cluster_hosts.detect(network, PROGRAM, hosts)
        self.expect_bandwidth(
            network, cluster_hosts.find_link(cluster, "h0", "h1"), MEGABITS)
        for host in ("h0", "h1"):
            self.expect_bandwidth(
                network, cluster_hosts.find_link(cluster, host, "h2"),
                SLOW_MEGABITS)
        operations = {row["operation"] for row in cluster["timings"]
                      if row["devices"] == 3}
        self.assertEqual(operations, {"all-reduce", "all-gather",
                                      "reduce-scatter", "all-to-all",
                                      "broadcast"})

    def test_the_length_of_the_way_is_the_latency(self):
        network = self.network(["h0", "h1"])
        delay = 0.005
        wanted = delay + cluster_hosts.ping(network, "h0", "h1")
        cluster = cluster_hosts.detect(network, PROGRAM, ["h0", "h1"],
                                       delay=delay)
        link = cluster_hosts.find_link(cluster, "h0", "h1")
        self.assertAlmostEqual(link["alpha"] / wanted, 1, delta=0.5)
        self.expect_bandwidth(network, link, MEGABITS)

    def test_a_host_that_goes_is_an_error_on_the_others(self):
        network = self.network(["h0", "h1"])
        with self.assertRaisesRegex(cluster_hosts.Failed,
                                    "^h0: .*host h1 at "):
            cluster_hosts.detect(network, PROGRAM, ["h0", "h1"], kill="h1")


if __name__ == "__main__":
    shaped_network.run_tests(PROGRAM, __doc__, MEGABITS)
