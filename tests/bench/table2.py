"""The nine cases of the paper's Table 2, scheduled by `meshwright reshard`.

A tensor of (1024, 1024, 512) floats is resharded between meshes of hosts x
devices; S0 splits over hosts, S1 over a host's devices, S01 over all of them.
The schedule is made for the whole tensor; what moves are slices of the same
shares of a smaller one, and bandwidths are scaled alike, so that the schedule's
seconds are those of the run.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib
import subprocess
import tempfile

SHAPE = (1024, 1024, 512)
ELEM_BYTES = 4
TENSOR_BYTES = math.prod(SHAPE) * ELEM_BYTES
# Name, spec and mesh of the senders, spec and mesh of the receivers.
CASES = (
    ("case1", "S0RR", (2, 4), "S0RR", (2, 4)),
    ("case2", "RRR", (2, 4), "S0RR", (2, 4)),
    ("case3", "RS0R", (2, 4), "S0RR", (2, 4)),
    ("case4", "RS01R", (2, 4), "S01RR", (2, 4)),
    ("case5", "S1RR", (2, 4), "S0RR", (2, 4)),
    ("case6", "S0RR", (2, 4), "S0RR", (3, 4)),
    ("case7", "S1RR", (1, 4), "RRR", (2, 4)),
    ("case8", "RRR", (2, 3), "RRR", (3, 2)),
    ("case9", "RS0R", (2, 4), "RRS0", (2, 4)),
)


@dataclasses.dataclass
class Step:
    """A task in its place of the order."""
    name: str
    size: int
    sender: str
    receiver_hosts: list[str]
    receiver_devices: list[str]


@dataclasses.dataclass
class Schedule:
    steps: list[Step]
    seconds: float
    optimal: bool
    solver: str


def request(case, bytes_per_second: float) -> dict:
    _, source_spec, source_mesh, target_spec, target_mesh = case
    return {"bandwidth_bytes_per_s": bytes_per_second,
            "resharding": {
                "shape": SHAPE, "elem_bytes": ELEM_BYTES,
                "src_mesh": source_mesh, "src_spec": source_spec,
                "dst_mesh": target_mesh, "dst_spec": target_spec}}


def schedule(meshwright: pathlib.Path, case, tensor_bytes: int,
             bytes_per_second: float) -> Schedule:
    """Of a tensor of `tensor_bytes` over links of `bytes_per_second`."""
    scale = tensor_bytes / TENSOR_BYTES
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(request(case, bytes_per_second / scale), file)
        file.flush()
        done = subprocess.run(
            [meshwright, "reshard", "--tasks", file.name, "--json"],
            check=True, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    devices = case[4][-1]  # of a host
    steps = []
    for number in answer["order"]:
        task = answer["tasks"][number]
        steps.append(Step(
            name=f"t{number}", size=round(task["size_bytes"] * scale),
            sender=answer["senders"][str(number)],
            receiver_hosts=task["receiver_hosts"],
            receiver_devices=[f"d{device // devices}.{device % devices}"
                              for device in task["dst_devices"]]))
    return Schedule(steps, answer["makespan_s"], answer["optimal"],
                    answer["solver"])
