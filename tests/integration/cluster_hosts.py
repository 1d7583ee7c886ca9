"""`meshwright cluster detect` on the hosts of a ShapedNetwork.

    cluster = cluster_hosts.detect(network, ["meshwright"], ["h0", "h1"])
    cluster_hosts.find_link(cluster, "h0", "h1")["beta"]

`pinned`: every host has a processor of its own. Where the kernel chooses, it
wakes a peer now on the same processor, now on another one, and a way of 30 us
takes half as long or twice.
"""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import subprocess
import sys

from shaped_network import ShapedNetwork

PORT = 7000
RELAY_PORT = 7100
HERE = pathlib.Path(__file__).resolve().parent


class Failed(Exception):
    """What a host said."""


def pin(number: int) -> list[str]:
    """What starts a program on a processor of its own, by number."""
    own = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(own[number % len(own)])]


def detect(network: ShapedNetwork, program: list[str], hosts: list[str],
           max_bytes: str = "4MiB", delay: float = 0, kill: str = "",
           timeout: float = 240, pinned: bool = False) -> dict:
    """The cluster file. `delay`: seconds of way between two hosts alone.
    `kill`: a host that dies once it has received a MiB."""
    addresses = {host: f"{network.address(host)}:{PORT}" for host in hosts}
    relay = None
    if delay:
        relay = network.start(hosts[0], [
            sys.executable, str(HERE / "delaying_relay.py"), str(RELAY_PORT),
            addresses[hosts[0]], str(delay)])
    processes = {}
    try:
        for number, host in enumerate(hosts):
            known = dict(addresses)
            if delay and host != hosts[0]:  # who stands later calls
                known[hosts[0]] = f"{network.address(hosts[0])}:{RELAY_PORT}"
            named = ",".join(f"{name}={at}" for name, at in known.items())
            processes[host] = network.start(host, [
                *(pin(number) if pinned else []), *program, "cluster", "detect", "--json", "--hosts", named,
                "--host", host, "--max-bytes", max_bytes])
        if kill:
            while network.received_bytes(kill) < 1 << 20:
                pass
            dead = processes.pop(kill)
            dead.kill()
            dead.communicate()
        answers = {host: process.communicate(timeout=timeout)
                   for host, process in processes.items()}
        for host, process in processes.items():
            if process.returncode != 0:
                raise Failed(f"{host}: {answers[host][1].strip()}")
        return json.loads(answers[hosts[0]][0])
    finally:
        for process in [*processes.values(), *([relay] if relay else [])]:
            if process.poll() is None:
                process.kill()
            process.communicate()


def find_link(cluster: dict, a: str, b: str) -> dict:
    """The link class of a pair: by a direct link, or its smallest group."""
    names = {a, b}
    for link in cluster["links"]:
        if names <= set(link["devices"]):
            return find_class(cluster, link["class"])
    inside = {}
    for group in cluster["groups"]:  # smaller ones come first
        inside[group["name"]] = {
            device for member in group["members"]
            for device in inside.get(member, {member})}
        if names <= inside[group["name"]]:
            return find_class(cluster, group["class"])
    raise KeyError(f"{a} and {b} have no link")


def find_class(cluster: dict, name: str) -> dict:
    return next(it for it in cluster["link_classes"] if it["name"] == name)


PING = """
import socket, sys, time
if sys.argv[1] == "serve":
    listener = socket.create_server(("", int(sys.argv[2])))
    print("ready", flush=True)
    peer, _ = listener.accept()
else:
    peer = socket.create_connection((sys.argv[3], int(sys.argv[2])))
peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(2000):
    if sys.argv[1] == "serve":
        peer.sendall(peer.recv(8))
    else:
        begin = time.perf_counter()
        peer.sendall(b"12345678")
        peer.recv(8)
        print(time.perf_counter() - begin)
"""


def ping(network: ShapedNetwork, a: str, b: str,
         priority: list[str] | None = None, pinned: bool = False) -> float:
    """Seconds one way, by another program than ours: half the median trip."""
    programs = [[*(pin(number) if pinned else []), *(priority or []),
                 sys.executable, "-c", PING] for number in range(2)]
    server = network.start(a, [*programs[0], "serve", "7200"])
    try:
        server.stdout.readline()
        caller = network.start(b, [*programs[1], "call", "7200",
                                   network.address(a)])
        trips, _ = caller.communicate(timeout=60)
        return statistics.median(map(float, trips.split())) / 2
    finally:
        server.kill()
        server.communicate()
