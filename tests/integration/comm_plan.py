"""Executor plans for the hosts of a ShapedNetwork, and runs of them.

A rank is named HOST or HOST.K; ranks of one host share its link and reach
each other inside it, as the devices of a node do.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import tempfile

from shaped_network import ShapedNetwork

FIRST_PORT = 7000


def task(name: str, size: int, sender: str, receivers: list[str],
         strategy: str = "broadcast", **more) -> dict:
    return {"id": name, "size_bytes": size, "sender": sender,
            "receivers": receivers, "strategy": strategy, **more}


def make_plan(network: ShapedNetwork, ranks: list[str], tasks: list[dict],
              alpha: float, **more) -> dict:
    hosts = []
    for index, rank in enumerate(ranks):
        node = rank.split(".")[0]
        hosts.append({"id": rank, "node": node,
                      "address":
                          f"{network.address(node)}:{FIRST_PORT + index}"})
    beta = 1 / (network.bytes_per_second * network.payload_share)
    return {"hosts": hosts, "link": {"alpha": alpha, "beta": beta},
            "tasks": tasks, **more}


@dataclasses.dataclass
class Answer:
    status: int
    report: dict
    errors: str


class Run:
    """One process per rank but the absent; a context, so that none is left."""

    def __init__(self, network: ShapedNetwork, program: list[str], plan: dict,
                 options: dict[str, list[str]] | None = None,
                 absent: str = ""):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / "plan.json"
        path.write_text(json.dumps(plan))
        self.processes: dict[str, subprocess.Popen] = {}
        for host in plan["hosts"]:
            rank = host["id"]
            if rank == absent:
                continue
            command = [*program, str(path), "--host", rank, "--json"]
            self.processes[rank] = network.start(
                host["node"], command + (options or {}).get(rank, []))

    def __enter__(self) -> Run:
        return self

    def answers(self, timeout: float) -> dict[str, Answer]:
        answers = {}
        for rank, process in self.processes.items():
            out, errors = process.communicate(timeout=timeout)
            answers[rank] = Answer(process.returncode,
                                     json.loads(out) if out else {}, errors)
        return answers

    def __exit__(self, *_) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.folder.cleanup()


def makespan(network: ShapedNetwork, program: list[str], plan: dict,
             timeout: float = 300) -> float:
    """Seconds from the word to start until all is verified, everywhere."""
    with Run(network, program, plan) as run:
        answers = run.answers(timeout)
    for rank, answer in answers.items():
        if answer.status != 0:
            raise RuntimeError(f"{rank}: {answer.errors.strip()}")
    return answers[plan["hosts"][0]["id"]].report["makespan_s"]
