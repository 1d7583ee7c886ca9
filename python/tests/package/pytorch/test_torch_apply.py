"""A module laid out by its plan, in two processes, trains as in one."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

import torch.nn.functional as F  # noqa: E402
from torch_models import make  # noqa: E402

import meshwright  # noqa: E402
import meshwright.torch  # noqa: E402
from meshwright import Plan, Strategies  # noqa: E402
from meshwright.torch._layouts import (  # noqa: E402
    parameters_without_gradient,
)
from meshwright.torch._losses import MeansApart  # noqa: E402

TOLERANCE = 1e-4
# The batch in rows, or Megatron's: columns, then contraction.
MEGATRON = ("all=columns|contraction",)
ROWS = ("all=rows",)


def plan_of(name, tmp_path, mesh="1x2", accumulate=1, **options):
    case = make(name)
    plan = meshwright.torch.plan(
        case.module,
        case.optimizer,
        case.loss,
        case.batch,
        mesh=mesh,
        accumulate=accumulate,
        keep=tmp_path / "kept",
        **options,
    )
    plan.save(tmp_path / "plan.json")
    return plan


def run_processes(name, tmp_path, processes=2, micro=1, how="apply"):
    """What each of them printed."""
    script = pathlib.Path(__file__).with_name("gloo_losses.py")
    rendezvous = pathlib.Path(tempfile.mkdtemp(dir=tmp_path), "rendezvous")
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    started: list[subprocess.Popen[str]] = []
    try:
        for rank in range(processes):
            started.append(
                subprocess.Popen(
                    [sys.executable, script, str(rank), rendezvous, name,
                     str(tmp_path / "plan.json"), str(micro), how],
                    env=environ,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        said = [process.communicate(timeout=240) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    statuses = [process.returncode for process in started]
    assert statuses == [0] * processes, said[0][1][-3000:]
    return [json.loads(output.splitlines()[-1]) for output, _ in said]


def losses_of_one_process(name, micro=1, case=None):
    case = case or make(name)
    optimizer = case.optimizer
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        for _ in range(micro):
            loss = case.loss(case.module, case.batch)
            (loss / micro).backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def assert_trains_alike(
    name, tmp_path, processes=2, micro=1, how="apply", tolerance=TOLERANCE
):
    wanted = losses_of_one_process(name, micro)
    said = run_processes(name, tmp_path, processes, micro, how)
    for one in said:
        assert max(abs(a - b) for a, b in zip(one["losses"], wanted)) < (
            tolerance
        ), (one["losses"], wanted)
    return said[0]


@pytest.mark.parametrize("pin", (MEGATRON, ROWS), ids=("columns", "rows"))
@pytest.mark.parametrize(
    "name",
    ("gpt2", "llama", "llama_grouped", "bert", "qwen3", "encoder", "gemma2"),
)
def test_two_processes_train_as_one(binary, name, pin, tmp_path):
    plan_of(name, tmp_path, symbolic=True, strategies=Strategies(pin=pin))
    assert_trains_alike(name, tmp_path)


@pytest.mark.parametrize("pin", ("all=columns", "all=rows"))
@pytest.mark.parametrize("name", ("mean_squares", "padded"))
def test_a_mean_over_shares_is_that_of_the_whole(binary, name, pin, tmp_path):
    plan_of(name, tmp_path, symbolic=True, strategies=Strategies(pin=(pin,)))
    assert_trains_alike(name, tmp_path)


@pytest.mark.parametrize("smoothing", (0.0, 0.1))
@pytest.mark.parametrize("weighted", (False, True))
def test_a_cross_entropy_apart_is_that_of_torch(weighted, smoothing):
    scores = torch.randn(2, 5, 3)
    targets = torch.tensor([[0, 4, 9], [9, 2, 1]])
    given = {
        "weight": torch.rand(5) if weighted else None,
        "ignore_index": 9,
        "label_smoothing": smoothing,
    }
    wanted = F.cross_entropy(scores, targets, **given)
    with MeansApart():
        found = F.cross_entropy(scores, targets, **given)
        of_shares = F.cross_entropy(scores, scores.softmax(1))
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(
        of_shares, F.cross_entropy(scores, scores.softmax(1))
    )


@pytest.mark.parametrize("weighted", (False, True))
def test_a_cross_entropy_of_halves_is_finite(weighted):
    # Each loss is a little above 10.
    scores = torch.zeros(8192, 32).half()
    scores[:, 0] = 10
    targets = torch.ones(8192, dtype=torch.int64)
    weight = torch.full((32,), 16.0) if weighted else None
    wanted = F.cross_entropy(scores.float(), targets, weight=weight)
    with MeansApart():
        found = F.cross_entropy(
            scores, targets, weight=weight.half() if weighted else None
        )
    assert found.dtype is torch.float16
    torch.testing.assert_close(found.float(), wanted, rtol=1e-3, atol=0)


def test_styles_of_a_plan_train_as_in_one_process(binary, tmp_path):
    pin = ("0=columns", "1=contraction")
    plan_of("scaled", tmp_path, symbolic=True, strategies=Strategies(pin=pin))
    said = assert_trains_alike("scaled", tmp_path, how="styles")
    assert "(Shard(dim=0),)" in said["state"], said


def test_styles_of_megatrons_plan_train_as_in_one_process(binary, tmp_path):
    plan_of("llama", tmp_path, fallback="tp", client=Away())
    said = assert_trains_alike("llama", tmp_path, how="styles")
    assert "(Shard(dim=0),)" in said["state"], said


@pytest.mark.parametrize("name", ("t5", "vit", "mixture", "resnet"))
def test_other_models_train_as_in_one_process(binary, name, tmp_path):
    plan_of(name, tmp_path, symbolic=True, strategies=Strategies(pin=ROWS))
    assert_trains_alike(name, tmp_path)


def test_megatrons_plan_of_a_llama_needs_few_collectives(binary, tmp_path):
    plan_of("llama", tmp_path, fallback="tp", client=Away())
    said = assert_trains_alike("llama", tmp_path)
    assert sum(said["collectives"].values()) <= 12, said["collectives"]


def test_a_fully_sharded_plan_splits_parameters_and_state(binary, tmp_path):
    plan_of("llama", tmp_path, fallback="fsdp", client=Away())
    said = assert_trains_alike("llama", tmp_path)
    assert said["state"] == ["(Shard(dim=0),)"]
    assert said["collectives"]["reduce_scatter_tensor"] > 0


def test_autocast_trains_as_in_one_process(binary, tmp_path):
    plan_of("autocast", tmp_path, fallback="tp", client=Away())
    assert_trains_alike("autocast", tmp_path, tolerance=3e-2)


@pytest.mark.parametrize("micro", (1, 2))
def test_a_fully_sharded_plan_runs_as_fsdp2(binary, micro, tmp_path):
    plan_of(
        "llama", tmp_path, accumulate=micro, fallback="fsdp", client=Away()
    )
    said = assert_trains_alike("llama", tmp_path, micro=micro, how="how")
    assert said["how"].startswith("FSDP2"), said["how"]
    assert said["state"] == ["(Shard(dim=0),)"]


def test_a_resnet_runs_as_ddp_with_the_batchs_statistics(binary, tmp_path):
    plan_of("resnet", tmp_path, symbolic=True, strategies=Strategies(pin=ROWS))
    said = assert_trains_alike("resnet", tmp_path, how="how")
    assert said["how"].startswith("DistributedDataParallel"), said["how"]
    assert "BatchNorm2d" in said["how"]
    assert_keeps_the_batchs_statistics(said)


def test_a_resnet_runs_as_fsdp2_with_the_batchs_statistics(binary, tmp_path):
    plan = plan_of(
        "resnet", tmp_path, symbolic=True, strategies=Strategies(pin=ROWS)
    )
    save_with_shardings(
        plan,
        tmp_path,
        lambda a: "[1" + ",-" * (len(a.shape) - 1) + "]"
        if a.name.startswith("params") and len(a.shape) > 1
        else a.sharding,
    )
    said = assert_trains_alike("resnet", tmp_path, how="how")
    assert said["how"].startswith("FSDP2"), said["how"]
    assert_keeps_the_batchs_statistics(said)


@pytest.mark.parametrize("name", ("spare_head", "spare_head_in_class"))
def test_ddp_trains_a_module_whose_loss_leaves_out_a_head(
    binary, name, tmp_path
):
    plan = plan_of(
        name, tmp_path, symbolic=True, strategies=Strategies(pin=ROWS)
    )
    assert {
        parameter.removeprefix("inner.")
        for parameter in parameters_without_gradient(plan)
    } == {"spare.weight", "spare.bias"}
    said = assert_trains_alike(name, tmp_path, how="how")
    assert said["how"].startswith("DistributedDataParallel"), said["how"]


def assert_keeps_the_batchs_statistics(said):
    case = make("resnet")
    losses_of_one_process("resnet", case=case)
    for mean, buffer in zip(said["buffers"], case.module.buffers()):
        assert abs(mean - buffer.float().mean().item()) < TOLERANCE


def save_with_shardings(plan, tmp_path, sharding_of):
    """The plan with other shardings of its arguments, for the processes."""
    arguments = [
        dataclasses.asdict(
            dataclasses.replace(argument, sharding=sharding_of(argument))
        )
        for argument in plan.arguments
    ]
    written = {**plan.to_json(), "arguments": arguments}
    Plan.from_json(written).save(tmp_path / "plan.json")


def test_processes_of_other_seeds_drop_the_same_elements(binary, tmp_path):
    pin = ("0=columns", "1=contraction")
    plan_of("dropped", tmp_path, symbolic=True, strategies=Strategies(pin=pin))
    first, second = run_processes("dropped", tmp_path)
    assert len(set(first["losses"])) == 3
    assert first["parameters"] == pytest.approx(
        second["parameters"], abs=1e-6
    )


class Away:
    """A client that no service answers, so the baseline is taken."""

    def plan(self, *_, **__):
        raise meshwright.Unavailable("nothing answers")


def test_gradients_are_settled_once_after_accumulation(binary, tmp_path):
    plan_of("llama", tmp_path, symbolic=True, strategies=Strategies(pin=ROWS))
    once = assert_trains_alike("llama", tmp_path)
    thrice = assert_trains_alike("llama", tmp_path, micro=3)
    parameters = len(list(make("llama").module.parameters()))
    settled = sum(once["collectives"].values())
    assert settled >= parameters
    assert sum(thrice["collectives"].values()) - settled < parameters


def test_the_state_of_the_optimizer_may_be_split_alone(binary, tmp_path):
    plan = plan_of(
        "llama", tmp_path, symbolic=True, strategies=Strategies(pin=ROWS)
    )
    save_with_shardings(
        plan,
        tmp_path,
        lambda a: "[1,-]"
        if a.name.startswith("optimizer") and len(a.shape) == 2
        else a.sharding,
    )
    said = assert_trains_alike("llama", tmp_path)
    assert said["state"] == ["(Replicate(),)", "(Shard(dim=0),)"]


def test_a_mesh_of_two_axes(binary, tmp_path):
    plan = plan_of("llama", tmp_path, mesh="2x2", symbolic=True)
    assert plan.mesh == (2, 2)
    assert_trains_alike("llama", tmp_path, processes=4)
