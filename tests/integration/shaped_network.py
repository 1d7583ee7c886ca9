"""Hosts on one machine: network namespaces joined by links of a set speed.

    with shaped_network.ShapedNetwork(["s0", "d0"], megabits=200) as network:
        network.start("s0", ["meshwright-comm", ...])

Every host is a namespace with one veth link to a bridge. `tc tbf` holds its
egress (inside) and its ingress (at the bridge) to the speed, counted over whole
Ethernet frames; bursts are small, so that data / speed is a true bound but for
32 KiB per link. netem is not needed.

It all happens in a network and a mount namespace of this process
(`enter_private_network`), so that nothing is left behind however it ends.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

MTU = 9000  # what data centres set; 66 bytes of headers per 8,948 of payload
BURST_BYTES = 32 << 10
QUEUE_SECONDS = 0.1
PRIVATE = "MESHWRIGHT_PRIVATE_NETWORK"


class NotPermitted(Exception):
    """This machine does not let us make shaped links; the reason, a line."""


def enter_private_network() -> None:
    """Runs this program again where it may make links; returns there."""
    if os.environ.get(PRIVATE) == "1":
        run(["mount", "-t", "tmpfs", "none", "/run"])
        pathlib.Path("/run/netns").mkdir()
        return
    for tool in ("unshare", "nsenter", "ip", "tc"):
        if shutil.which(tool) is None:
            raise NotPermitted(f"{tool} is not installed")
    unshare = ["unshare", "--net", "--mount"]
    if os.geteuid() != 0:
        unshare += ["--user", "--map-root-user"]
    run([*unshare, "true"])
    os.environ[PRIVATE] = "1"
    os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"status {done.returncode}"
        raise NotPermitted(f"`{' '.join(command)}`: {said}")
    return done.stdout


class ShapedNetwork:

    def __init__(self, hosts: list[str], megabits: float, mtu: int = MTU,
                 slower: dict[str, float] | None = None):
        """`slower`: hosts whose links have a speed of their own."""
        self.hosts = hosts
        self.megabits = megabits
        self.mtu = mtu
        self.slower = slower or {}

    @property
    def bytes_per_second(self) -> float:
        """Over whole Ethernet frames, as tbf counts."""
        return self.megabits * 1e6 / 8

    @property
    def payload_share(self) -> float:
        """Of a full frame: less Ethernet, IP, TCP and its timestamps."""
        return (self.mtu - 20 - 20 - 12) / (self.mtu + 14)

    def address(self, host: str) -> str:
        return f"10.77.0.{1 + self.hosts.index(host)}"

    def __enter__(self) -> ShapedNetwork:
        run(["ip", "link", "set", "lo", "up"])
        run(["ip", "link", "add", "bridge0", "type", "bridge"])
        run(["ip", "link", "set", "bridge0", "mtu", str(self.mtu), "up"])
        for host in self.hosts:
            self._add(host)
        return self

    def _add(self, host: str) -> None:
        port = f"port-{host}"
        run(["ip", "netns", "add", host])
        run(["ip", "link", "add", port, "mtu", str(self.mtu), "type", "veth",
             "peer", "name", "eth0", "mtu", str(self.mtu), "netns", host])
        run(["ip", "link", "set", port, "master", "bridge0", "up"])
        run(["ip", "-n", host, "link", "set", "lo", "up"])
        run(["ip", "-n", host, "link", "set", "eth0", "up"])
        run(["ip", "-n", host, "address", "add", f"{self.address(host)}/24",
             "dev", "eth0"])
        megabits = self.slower.get(host, self.megabits)
        self._shape([], port, megabits)
        self._shape(["-n", host], "eth0", megabits)
        # One congestion control everywhere, whatever the machine prefers; Reno
        # is the one that every namespace may choose.
        run([*self.inside(host), "sh", "-c",
             "echo reno > /proc/sys/net/ipv4/tcp_congestion_control"])

    def _shape(self, where: list[str], device: str, megabits: float) -> None:
        limit = max(8 * self.mtu, int(QUEUE_SECONDS * megabits * 1e6 / 8))
        run(["tc", *where, "qdisc", "add", "dev", device, "root", "tbf",
             "rate", f"{megabits}mbit", "burst", str(BURST_BYTES),
             "limit", str(limit + BURST_BYTES)])

    def __exit__(self, *_) -> None:
        for host in self.hosts:
            # At once; a namespace takes its links along when it gets to it.
            run(["ip", "link", "delete", f"port-{host}"])
            run(["ip", "netns", "delete", host])
        run(["ip", "link", "delete", "bridge0"])

    def inside(self, host: str) -> list[str]:
        return ["nsenter", f"--net=/run/netns/{host}"]

    def start(self, host: str, command: list[str]) -> subprocess.Popen:
        return subprocess.Popen([*self.inside(host), *command],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def received_bytes(self, host: str) -> int:
        """By its link, so far."""
        shown = run(["ip", "-n", host, "-json", "-stats", "link", "show",
                     "eth0"])
        return json.loads(shown)[0]["stats64"]["rx"]["bytes"]

    def cut(self, host: str) -> None:
        """Its link goes dead without a word, as when a cable is pulled."""
        run(["ip", "link", "set", f"port-{host}", "nomaster"])


def run_tests(program: list[str], usage: str | None, megabits: int) -> None:
    """The tests of __main__, in a network that is private; the first argument
    is theirs. Skips with a reason where the machine permits none."""
    if not program:
        sys.exit(usage)
    try:
        enter_private_network()
        with ShapedNetwork(["trial"], megabits):
            pass
    except NotPermitted as reason:
        name = pathlib.Path(sys.argv[0]).stem
        print(f"skipped: {name}: {reason}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
