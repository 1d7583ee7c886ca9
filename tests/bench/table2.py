"""The nine cases of the paper's Table 2 as unit tasks between hosts.

A tensor of (1024, 1024, 512) elements is sharded on a mesh of hosts x devices;
S^0 splits over hosts, S^1 over a host's devices, S^01 over all of them. A unit
task is a non-empty meeting of a source tile and a destination tile
(design.md, section 8); its senders are the hosts that hold the source tile, its
receivers the devices that want the meeting.
"""

from __future__ import annotations

import itertools
import math

SHAPE = (1024, 1024, 512)
# Name, spec and mesh of the senders, spec and mesh of the receivers.
CASES = (
    ("case1", ("S0", "R", "R"), (2, 4), ("S0", "R", "R"), (2, 4)),
    ("case2", ("R", "R", "R"), (2, 4), ("S0", "R", "R"), (2, 4)),
    ("case3", ("R", "S0", "R"), (2, 4), ("S0", "R", "R"), (2, 4)),
    ("case4", ("R", "S01", "R"), (2, 4), ("S01", "R", "R"), (2, 4)),
    ("case5", ("S1", "R", "R"), (2, 4), ("S0", "R", "R"), (2, 4)),
    ("case6", ("S0", "R", "R"), (2, 4), ("S0", "R", "R"), (3, 4)),
    ("case7", ("S1", "R", "R"), (1, 4), ("R", "R", "R"), (2, 4)),
    ("case8", ("R", "R", "R"), (2, 3), ("R", "R", "R"), (3, 2)),
    ("case9", ("R", "S0", "R"), (2, 4), ("R", "R", "S0"), (2, 4)),
)


def tile(spec, mesh, device) -> tuple[tuple[int, int], ...]:
    """The ranges that `device` = (host, index) holds; the last may be short."""
    ranges = []
    for size, part in zip(SHAPE, spec):
        axes = [int(axis) for axis in part[1:]]
        parts = math.prod(mesh[axis] for axis in axes)
        index = 0
        for axis in axes:
            index = index * mesh[axis] + device[axis]
        each = -(-size // parts)
        ranges.append((min(index * each, size), min((index + 1) * each, size)))
    return tuple(ranges)


def holders(spec, mesh) -> dict:
    found = {}
    for device in itertools.product(*map(range, mesh)):
        found.setdefault(tile(spec, mesh, device), []).append(device)
    return found


def unit_tasks(case, total_bytes: int) -> list[dict]:
    """Sizes are the tensor's, scaled so that all of it is `total_bytes`."""
    _, send_spec, send_mesh, receive_spec, receive_mesh = case
    tasks = []
    for source, senders in sorted(holders(send_spec, send_mesh).items()):
        for target, wanted in sorted(
                holders(receive_spec, receive_mesh).items()):
            lengths = [min(a[1], b[1]) - max(a[0], b[0])
                       for a, b in zip(source, target)]
            if min(lengths) <= 0:
                continue
            share = math.prod(lengths) / math.prod(SHAPE)
            tasks.append({
                "id": f"t{len(tasks)}",
                "size_bytes": round(share * total_bytes),
                "sender_hosts": sorted({f"s{h}" for h, _ in senders}),
                "receiver_hosts": sorted({f"d{h}" for h, _ in wanted}),
                "receiver_devices": sorted(f"d{h}.{i}" for h, i in wanted)})
    return tasks


def longest_first(tasks: list[dict]) -> tuple[list[str], dict[str, str]]:
    """Each to its least loaded sender; then, over and over, the longest task
    that may start soonest. Where `meshwright reshard` is not built."""
    load: dict[str, int] = {}
    senders = {}
    by_size = sorted(tasks, key=lambda t: (-t["size_bytes"], t["id"]))
    for t in by_size:
        best = min(t["sender_hosts"], key=lambda host: (load.get(host, 0), host))
        senders[t["id"]] = best
        load[best] = load.get(best, 0) + t["size_bytes"]
    free: dict[str, int] = {}
    order = []
    waiting = list(by_size)
    while waiting:
        def start(t):
            ports = ["out " + senders[t["id"]],
                     *("in " + host for host in t["receiver_hosts"])]
            return max(free.get(port, 0) for port in ports), ports
        chosen = min(waiting, key=lambda t: (start(t)[0], -t["size_bytes"]))
        begin, ports = start(chosen)
        for port in ports:
            free[port] = begin + chosen["size_bytes"]
        waiting.remove(chosen)
        order.append(chosen["id"])
    return order, senders


def makespan_bytes(tasks, order, senders) -> int:
    """Of a schedule under Eqs. 1-3, in bytes at the speed of one link."""
    by_id = {t["id"]: t for t in tasks}
    free: dict[str, int] = {}
    for name in order:
        t = by_id[name]
        ports = ["out " + senders[name],
                 *("in " + host for host in t["receiver_hosts"])]
        end = max(free.get(port, 0) for port in ports) + t["size_bytes"]
        free.update(dict.fromkeys(ports, end))
    return max(free.values())
