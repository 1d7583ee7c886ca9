"""Placements, styles and activations of plans, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import warnings
from typing import NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import nn  # noqa: E402
from torch.distributed.tensor import (  # noqa: E402
    Replicate,
    Shard,
    distribute_tensor,
)
from torch_models import SpareHead, Two, squares  # noqa: E402

import meshwright  # noqa: E402
import meshwright.torch  # noqa: E402
from meshwright import Plan, Strategies  # noqa: E402
from meshwright.plan import Segment  # noqa: E402
from meshwright.torch._activations import (  # noqa: E402
    read_sharding,
    through_view,
)
from meshwright.torch._batch_norm import (  # noqa: E402
    synchronize_batch_norms,
)
from meshwright.torch._data_parallel import replicate  # noqa: E402
from meshwright.torch._devices import choose_device_type  # noqa: E402
from meshwright.torch._layouts import (  # noqa: E402
    PlanPlacements,
    read_placements,
)
from meshwright.torch.applying import (  # noqa: E402
    _distribute,
    _move_output,
)


def arguments(module=None):
    module = module or Two()
    batch = {"x": torch.ones(8, 16), "y": torch.zeros(8, 16)}
    return module, torch.optim.Adam(module.parameters()), squares, batch


@pytest.fixture
def plan(binary):
    return meshwright.torch.plan(
        *arguments(),
        mesh="1x2",
        symbolic=True,
        strategies=Strategies(pin=("0=columns", "1=contraction")),
        keep=False,
    )


def test_axes_of_one_device_are_dropped():
    assert read_placements("[1,-]", [1]) == (Shard(0),)
    assert read_placements("[0,1]", [1]) == (Shard(1),)
    assert read_placements("[-,01]", [0, 1]) == (Shard(1), Shard(1))
    assert read_placements("[]", [0, 1]) == (Replicate(), Replicate())


@pytest.mark.parametrize(
    ("sharding", "mesh", "wanted"),
    (
        ("devices=[2,1]0,1", (1, 2), ["1", ""]),
        ("devices=[1,2]<=[2]", (2, 1), ["", "0"]),
        ("replicated", (2, 2), ["", ""]),
        ("devices=[2,2]0,1,2,3", (2, 2), ["0", "1"]),
        ("devices=[2,2]<=[2,2]T(1,0)", (2, 2), ["1", "0"]),
        ("devices=[1,2,2]0,2,1,3 last_tile_dim_replicate", (2, 2), ["", "1"]),
        ("devices=[4,1]<=[4]", (2, 2), ["01", ""]),
    ),
)
def test_shardings_are_read_as_plans_write_them(sharding, mesh, wanted):
    assert read_sharding(sharding, 2, mesh) == wanted


def test_a_view_has_the_sharding_of_what_it_views():
    def seen(entries, source, target):
        return through_view(entries, source, target, (2, 2))

    assert seen(["1", ""], (128, 64), (4, 32, 64)) == "[1,-,-]"
    assert seen(["", "1"], (128, 64), (4, 32, 64)) == "[-,-,1]"
    assert seen(["", "1"], (128, 64), (1, 128, 4, 16)) == "[-,-,1,-]"
    assert seen(["01", ""], (128, 64), (2, 64, 64)) is None
    assert seen(["", "1", ""], (4, 32, 64), (128, 64)) is None


def test_placements_of_every_tensor(plan):
    placed = meshwright.torch.placements(plan)
    assert placed.parameters["up.weight"] == (Shard(0),)
    assert placed.parameters["down.weight"] == (Shard(1),)
    assert placed.parameters["down.bias"] == (Replicate(),)
    assert placed.optimizer["up.weight"]["exp_avg"] == (Shard(0),)
    assert placed.activations["up"] == (Shard(1),)
    assert placed.shapes["up"] == (8, 64)
    assert placed.activations["down"] == (Replicate(),)
    assert set(placed.batch) == {"batch['x']", "batch['y']"}


def test_a_submodule_that_stands_in_two_places_is_one():
    module = Two()
    module.again = module.down
    before = {name: p.detach().clone() for name, p in module.named_parameters()}
    step = meshwright.torch.export(*arguments(module))
    assert not any("again" in name for name in step.arguments)
    for name, parameter in module.named_parameters():
        assert type(parameter) is nn.Parameter
        assert torch.equal(parameter, before[name])


def test_a_plan_file_keeps_the_activations(plan, tmp_path):
    plan.save(tmp_path / "plan.json")
    again = Plan.load(tmp_path / "plan.json")
    assert again == plan
    modules, roots = again.activations[:2], again.activations[2:]
    assert [it.op_name for it in modules] == ["up", "down"]
    # Those of the plan itself: the roots of its blocks.
    assert [it.sharding for it in roots] == ["[-,1]", "[-,-]"]
    assert all("aten." in it.op_name for it in roots)
    assert json.loads((tmp_path / "plan.json").read_text())["activations"][
        0
    ] == {"op_name": "up", "shape": [8, 64], "sharding": "[-,1]"}
    given = meshwright.torch.plan(*arguments(), mesh="1x2", use=again)
    assert given.activations == plan.activations
    with pytest.raises(meshwright.PlanMismatch, match="mesh 1x2"):
        meshwright.torch.plan(*arguments(), mesh="2x2", use=again)
    module, optimizer, loss, batch = arguments()
    short = {name: tensor[:4] for name, tensor in batch.items()}
    with pytest.raises(
        meshwright.PlanMismatch,
        match=r"^use: .* batch\['x'\] of the shape \[8, 16\]",
    ):
        meshwright.torch.plan(
            module, optimizer, loss, short, mesh="1x2", use=again
        )


def test_a_kept_plan_is_found_without_the_program(
    binary, tmp_path, monkeypatch
):
    options = {"mesh": "1x2", "symbolic": True, "keep": tmp_path}
    first = meshwright.torch.plan(*arguments(), **options)
    monkeypatch.setenv("MESHWRIGHT_BINARY", "/bin/false")
    assert meshwright.torch.plan(*arguments(), **options) == first


class Away:
    """A client that no service answers."""

    def plan(self, *_, **__):
        raise meshwright.Unavailable("nothing answers")


class Asked:
    """A client that keeps what it is asked for, and has no plan."""

    def plan(self, _, **options):
        self.options = options
        raise meshwright.Unavailable("nothing answers")


def test_a_solo_plan_is_asked_for_with_the_links_of_the_axes(tmp_path):
    links = {"alpha": [0, 1e-6], "beta": [0, 1e-10]}
    asked = Asked()
    with pytest.raises(meshwright.Unavailable):
        meshwright.torch.plan(
            *arguments(),
            mesh="1x2",
            platform="cuda",
            client=asked,
            solo=True,
            links=links,
            keep=tmp_path,
        )
    assert asked.options["solo"] is True and asked.options["links"] == links


def test_best_plan_takes_the_baseline_of_a_module(binary, tmp_path):
    with pytest.warns(meshwright.MeshwrightWarning, match="the baseline dp"):
        plan = meshwright.best_plan(
            *arguments(), mesh="1x2", client=Away(), keep=tmp_path
        )
    assert plan.fallback == plan.to_json()["fallback"] == "dp"
    assert [it.op_name for it in plan.activations[:2]] == ["up", "down"]
    placed = meshwright.torch.placements(plan)
    assert placed.batch["batch['x']"] == (Shard(0),)
    assert not list(tmp_path.iterdir())


def test_a_measured_plan_of_a_service(binary, store, tmp_path, monkeypatch):
    with meshwright.Client(store=store) as client:
        client.plans()
        # The service has the module: nothing else runs here.
        monkeypatch.setenv("MESHWRIGHT_BINARY", "/bin/false")
        plan = meshwright.torch.plan(
            *arguments(),
            mesh="1x2",
            client=client,
            strategies=Strategies(pin=("0=columns", "1=contraction")),
            keep=tmp_path,
        )
    assert plan.predicted.step_seconds > 0 and plan.programs.distinct > 0
    placed = meshwright.torch.placements(plan)
    assert placed.activations["up"] == (Shard(1),)


def test_styles_of_a_plan_that_styles_can_say(plan):
    styles = meshwright.torch.parallelize_plan(plan, Two())
    assert [type(s).__name__ for s in styles.values()] == [
        "ColwiseParallel",
        "RowwiseParallel",
    ]
    split = [
        dataclasses.replace(a, sharding="[-,1]")
        if a.name == "params['up.weight']"
        else dataclasses.replace(a, sharding="[1,-]")
        if a.name == "batch['x']"
        else a
        for a in plan.arguments
    ]
    other = dataclasses.replace(plan, arguments=tuple(split))
    with pytest.raises(
        meshwright.Unimplemented, match=r"batch\['x'\], up.weight, up.bias; use"
    ):
        meshwright.torch.parallelize_plan(other, Two())


class NormAndReLU(nn.BatchNorm1d):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x).relu()


def test_a_norm_that_computes_more_keeps_its_class():
    module = nn.Sequential(nn.BatchNorm1d(16), NormAndReLU(16))
    with pytest.raises(
        meshwright.Unimplemented, match="1 is a batch norm .* NormAndReLU, .*;"
    ):
        synchronize_batch_norms(module, "cpu", None)
    assert [type(norm) for norm in module] == [nn.BatchNorm1d, NormAndReLU]
    synchronize_batch_norms(module[0], "cpu", None)
    synchronize_batch_norms(module[0], "cpu", None)


def test_how_says_in_a_sentence_what_runs_a_plan(plan):
    assert str(meshwright.torch.how(plan, Two())) == (
        "DTensor: the plan is run as it is, since it does not split rows of "
        "the batch alone."
    )

    def planned(**options):
        return meshwright.torch.plan(
            *arguments(), mesh="1x2", keep=False, **options
        )

    rows = planned(symbolic=True, strategies=Strategies(pin=("all=rows",)))
    assert meshwright.torch.how(rows, Two()).method == "dtensor"
    with_norm = nn.Sequential(Two(), nn.BatchNorm1d(16))
    assert meshwright.torch.how(rows, with_norm).method == "ddp"
    with_more = nn.Sequential(Two(), NormAndReLU(16))
    found = meshwright.torch.how(rows, with_more)
    assert found.method == "dtensor"
    assert "NormAndReLU computes more than a batch norm" in str(found)
    sharded = dataclasses.replace(
        rows,
        arguments=tuple(
            dataclasses.replace(a, sharding="[1,-]")
            if a.name.startswith("params") and len(a.shape) == 2
            else a
            for a in rows.arguments
        ),
    )
    found = meshwright.torch.how(sharded, Two())
    assert found.method == "fully_shard" and "FSDP2" in found.reason
    for sharding, reason in (
        ("[1,-]", "splits some parameters and not others"),
        ("[-,-]", "splits the optimizer's state"),
    ):
        other = dataclasses.replace(
            rows,
            arguments=tuple(
                dataclasses.replace(a, sharding=sharding)
                if a.name == "params['up.weight']"
                else dataclasses.replace(a, sharding="[1,-]")
                if a.name == "optimizer['up.weight']['exp_avg']"
                else a
                for a in rows.arguments
            ),
        )
        assert reason in str(meshwright.torch.how(other, Two()))


def test_a_plan_that_recomputes_says_so(plan, one_of_two):
    segments = tuple(Segment(recompute=n in (1, 2, 4)) for n in range(6))
    recomputed = dataclasses.replace(plan, segments=segments)
    for given, match in (
        (recomputed, "of segments 1-2, 4, which PyTorch .*checkpoint; unless"),
        (
            dataclasses.replace(plan, segments=segments[:2]),
            "of segment 1, which",
        ),
    ):
        for call in (
            lambda: meshwright.torch.apply(given, Two(), one_of_two),
            lambda: meshwright.torch.parallelize_plan(given, Two()),
        ):
            with pytest.warns(
                meshwright.MeshwrightWarning, match=match
            ) as told:
                call()
            of_ours = [
                warning
                for warning in told
                if warning.category is meshwright.MeshwrightWarning
            ]
            assert len(of_ours) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", meshwright.MeshwrightWarning)
        meshwright.torch.how(plan, Two())
        meshwright.torch.apply(plan, Two(), one_of_two)


def test_an_optimizer_of_before_apply_is_refused(plan, one_of_two):
    module, optimizer, *_ = arguments()
    meshwright.torch.apply(plan, module, one_of_two)

    def refused():
        return pytest.raises(
            meshwright.InvalidArgument,
            match=r"param_groups\[0\]\['params'\]\[0\] .*; make .* after apply",
        )

    with meshwright.torch.running(), refused():
        optimizer.step()
    for stale in (optimizer, torch.optim.SGD(Two().parameters(), lr=0.1)):
        with refused():
            meshwright.torch.shard_optimizer(plan, module, stale)
    made_after = torch.optim.Adam(module.parameters())
    meshwright.torch.shard_optimizer(plan, module, made_after)
    with meshwright.torch.running():
        made_after.step()
    optimizer.step()  # no hook stays behind


def test_a_parameter_that_two_modules_share_may_be_laid_out_twice(
    plan, one_of_two
):
    one, other = Two(), Two()
    other.up.weight = one.up.weight
    for module in (one, other):
        meshwright.torch.apply(plan, module, one_of_two)
        made_after = torch.optim.Adam(module.parameters())
        with meshwright.torch.running():
            made_after.step()


class OnGpu(torch.Tensor):
    """Says that it lies on a GPU."""

    device = torch.device("cuda", 0)


def on_a_gpu():
    module = Two()
    module.up.weight = nn.Parameter(torch.ones(64, 16).as_subclass(OnGpu))
    return module


def test_a_module_on_a_gpu_is_not_moved_to_the_cpu(plan, one_of_two):
    with pytest.raises(
        meshwright.InvalidArgument,
        match=r"of cpu and params\['up.weight'\] is on cuda; .*, \"cuda\"\)",
    ):
        meshwright.torch.apply(plan, on_a_gpu(), one_of_two)


def test_a_mesh_is_of_the_modules_devices_or_of_the_measured_ones(
    plan, monkeypatch
):
    measured = dataclasses.replace(plan, device="cuda NVIDIA H200")
    for is_there, wanted in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: is_there)
        assert choose_device_type(measured, None) == wanted
        assert choose_device_type(measured, Two()) == wanted
        assert choose_device_type(plan, Two()) == "cpu"
        assert choose_device_type(plan, on_a_gpu()) == "cuda"


def test_running_follows_the_mesh_of_the_module(plan, one_of_two, monkeypatch):
    monkeypatch.setattr("meshwright.torch._devices._last", "cuda")
    with meshwright.torch.running():
        assert torch.backends.cuda.flash_sdp_enabled()
    with meshwright.torch.running("cpu"):
        assert not torch.backends.cuda.flash_sdp_enabled()
    meshwright.torch.apply(plan, Two(), one_of_two)
    with meshwright.torch.running():
        assert not torch.backends.cuda.flash_sdp_enabled()


class Tied(nn.Module):
    """Words in and out by one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(64, 16)
        self.head = nn.Linear(16, 64, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.words(x))


def test_no_style_says_how_a_tied_weight_lies(binary):
    module = Tied()
    plan = meshwright.torch.plan(
        module,
        torch.optim.SGD(module.parameters(), lr=0.1),
        lambda m, b: m(b["x"]).square().mean(),
        {"x": torch.zeros(8, dtype=torch.int64)},
        mesh="1x2",
        symbolic=True,
        strategies=Strategies(pin=("all=columns",)),
        keep=False,
    )
    placed = meshwright.torch.placements(plan).parameters
    assert placed == {"words.weight": (Shard(0),)}
    with pytest.raises(meshwright.Unimplemented, match="words.weight; use"):
        meshwright.torch.parallelize_plan(plan, module)


class Pair(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


def test_the_fields_of_a_named_tuple_are_numbered(binary):
    module, optimizer, _, batch = arguments()
    plan = meshwright.torch.plan(
        module,
        optimizer,
        lambda m, b: (m(b.x) - b.y).square().mean(),
        Pair(**batch),
        mesh="1x2",
        symbolic=True,
        keep=False,
    )
    names = [argument.name for argument in plan.arguments]
    assert "batch[0]" in names and "batch[1]" in names
    assert set(meshwright.torch.placements(plan).batch) == {
        "batch[0]", "batch[1]",
    }  # fmt: skip


def test_attention_is_left_as_it_was_found(monkeypatch):
    own = nn.MultiheadAttention.forward

    def patched(self, *args, **options):
        return own(self, *args, **options)

    monkeypatch.setattr(nn.MultiheadAttention, "forward", patched)
    with meshwright.torch.running():
        assert nn.MultiheadAttention.forward is not patched
        with meshwright.torch.running():
            inside = nn.MultiheadAttention.forward
        assert nn.MultiheadAttention.forward is inside
    assert nn.MultiheadAttention.forward is patched


@pytest.fixture
def alone(tmp_path):
    """A group of this process."""
    torch.distributed.init_process_group(
        "gloo",
        init_method=f"file://{tmp_path}/rendezvous",
        rank=0,
        world_size=1,
    )
    try:
        yield torch.distributed.init_device_mesh("cpu", (1,))
    finally:
        torch.distributed.destroy_process_group()


@pytest.fixture
def one_of_two():
    """The first of two processes, of which there is no second."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group(
        "fake", store=FakeStore(), rank=0, world_size=2
    )
    try:
        yield torch.distributed.init_device_mesh("cpu", (2,))
    finally:
        torch.distributed.destroy_process_group()


def add_to_column(values):
    values[:, 0] += 1


def scale_columns(values):
    values.narrow(1, 2, 3).mul_(2)


def set_columns(values):
    values[..., 1:3] = 0


def halve_a_column(values):
    column = values.unsqueeze(0)[0].transpose(0, 1)[2]
    column /= 2


def scale_a_column_as_a_square(values):
    values[:, 0].reshape(2, 2).mul_(2)


def scale_columns_as_rows(values):
    values[:, :2].T.mul_(2)


@pytest.mark.parametrize(
    "write",
    [
        add_to_column,
        scale_columns,
        set_columns,
        halve_a_column,
        scale_a_column_as_a_square,
        scale_columns_as_rows,
    ],
)
@pytest.mark.parametrize("needs_gradient", [False, True])
def test_a_write_that_would_be_lost_is_refused(
    one_of_two, write, needs_gradient
):
    def values(*placements):
        made = distribute_tensor(torch.ones(4, 8), one_of_two, placements)
        return 2 * made.requires_grad_(needs_gradient)

    with meshwright.torch.running():
        with pytest.raises(meshwright.Unimplemented, match="only a copy"):
            write(values(Shard(1)))
        write(values(Shard(0)))
        write(values(Replicate()))


def test_a_write_by_a_mask_and_one_into_all_run(one_of_two):
    values = distribute_tensor(torch.ones(4, 8), one_of_two, (Shard(1),))
    with meshwright.torch.running():
        values[values > 0] = 3
        values += 1
        values[:, 0].requires_grad_()
        values[:, :2].flatten().mul_(2)  # a copy without a plan, too
    assert (values.to_local() == 4).all()


def test_a_scaled_loss_is_refused():
    module, optimizer, loss, batch = arguments()
    scaler = torch.amp.GradScaler("cpu")
    with pytest.raises(
        meshwright.InvalidArgument, match="scaled by a GradScaler, .*; use torch"
    ):
        meshwright.torch.export(
            module, optimizer, lambda m, b: scaler.scale(loss(m, b)), batch
        )
    with meshwright.torch.running(), pytest.raises(
        meshwright.InvalidArgument, match="GradScaler"
    ):
        scaler.scale(torch.ones(()))
    with meshwright.torch.running():
        off = torch.amp.GradScaler("cpu", enabled=False)
        assert off.scale(torch.ones(())) == 1
    assert scaler.scale(torch.ones(())) == 65536


def test_a_plan_of_one_device_runs(binary, alone):
    module, _, loss, batch = arguments()
    plan = meshwright.torch.plan(
        *arguments(), mesh="1x1", symbolic=True, keep=False
    )
    assert meshwright.torch.how(plan, module).method == "dtensor"
    wanted = loss(module, batch)
    mesh = meshwright.torch.device_mesh(plan)
    module = meshwright.torch.apply(plan, module, mesh)
    with meshwright.torch.running():
        found = loss(module, meshwright.torch.shard_batch(plan, batch, mesh))
    assert found.item() == pytest.approx(wanted.item())


def test_a_named_tuple_stays_one_when_its_tensor_is_moved(alone):
    hook = _move_output(alone, (Replicate(),), (4,))
    where = distribute_tensor(torch.ones(4), alone, [Shard(0)])
    moved = hook(None, None, Pair(where, torch.zeros(2)))
    assert type(moved) is Pair
    assert moved.x.placements == (Replicate(),)


def test_a_module_that_is_called_twice_keeps_the_layout_of_other_shapes(alone):
    hook = _move_output(alone, (Shard(2),), (4, 2, 8))
    planned = distribute_tensor(torch.ones(4, 2, 8), alone, [Replicate()])
    assert hook(None, None, planned).placements == (Shard(2),)
    for shape in ((4, 8), (4, 8, 8)):
        other = distribute_tensor(torch.ones(shape), alone, [Replicate()])
        assert hook(None, None, other) is other


def test_ddp_waits_for_no_gradient_that_the_plan_has_not(alone):
    module = SpareHead()
    replicated = replicate(module, alone, {"spare.weight", "spare.bias"})
    x = torch.arange(8 * 16).reshape(8, 16) / 64
    for _ in range(2):
        replicated(x)[0].sum().backward()
    assert module.up.weight.grad is not None
    assert module.spare.weight.requires_grad
    assert module.spare.weight.grad is None
    with pytest.raises(
        meshwright.PlanMismatch, match=r"params\['spare\..*'\] has a gradient"
    ):
        replicated(x)[1].sum().backward()


def test_parameters_keep_their_attributes(alone):
    module = Two()
    module.up.weight.no_weight_decay = True
    names = [name for name, _ in module.named_parameters()]
    placed = PlanPlacements(
        parameters={name: (Replicate(),) for name in names},
        buffers={},
        optimizer={},
        batch={},
        activations={},
        shapes={
            f"params['{name}']": tuple(value.shape)
            for name, value in module.named_parameters()
        },
    )
    _distribute(module, alone, placed)
    assert module.up.weight.no_weight_decay is True
    assert not hasattr(module.down.weight, "no_weight_decay")
    assert module.up.weight.placements == (Replicate(),)


def test_what_is_no_step_is_refused_by_its_path():
    module, optimizer, loss, batch = arguments()

    def refused(match, *given, error=meshwright.InvalidArgument, **options):
        with pytest.raises(error, match=match):
            meshwright.torch.export(*given, **options)

    refused("module must be", print, optimizer, loss, batch)
    refused("optimizer must be", module, 0.1, loss, batch)
    refused("accumulate must be", module, optimizer, loss, batch, accumulate=0)
    other = torch.optim.SGD(Two().parameters(), lr=0.1)
    refused(
        r"param_groups\[0\]\['params'\]\[0\] is no parameter of the module",
        module, other, loss, batch,
    )
    refused(
        r"batch\['x'\]\[1\] is a set",
        module, optimizer, loss, {"x": [torch.ones(2), {1}]},
    )
    refused(
        "loss_fn returns a tensor of the shape",
        module, optimizer, lambda m, b: m(b["x"]), batch,
    )
    refused(
        "loss_fn returns a float",
        module, optimizer, lambda m, b: 0.0, batch,
    )
    refused(
        "no parameter of the module changes",
        module, optimizer, lambda m, b: b["x"].sum(), batch,
    )
    refused(
        "decides by the values of a tensor",
        module,
        optimizer,
        lambda m, b: squares(m, b) if b["x"].sum() > 0 else 0.0,
        batch,
    )
    outside = torch.ones(1024, 1024)
    refused(
        r"holds a tensor of the shape \[1024, 1024\]",
        module,
        optimizer,
        lambda m, b: squares(m, b) + outside.sum(),
        batch,
    )
    refused(
        "without a rule: aten.cummax.default, aten.erfinv.default; write",
        module,
        optimizer,
        lambda m, b: squares(m, b)
        + torch.cummax(b["x"], 0)[0].sum()
        + torch.erfinv(b["x"]).sum(),
        batch,
        error=meshwright.Unimplemented,
    )
    refused(
        "HLO: aten.histc over the range of its values; write",
        module,
        optimizer,
        lambda m, b: squares(m, b) + torch.histc(b["x"]).sum(),
        batch,
        error=meshwright.Unimplemented,
    )

    def set_rows(module, batch):
        x = batch["x"].clone()
        x[batch["y"][:, 0] == 0] = torch.ones(8, 16)
        return module(x).sum()

    refused(
        "HLO: aten.index_put with a mask and a value for each of its places; ",
        module, optimizer, set_rows, batch, error=meshwright.Unimplemented,
    )
    refused(
        r"HLO: aten.max_pool2d_with_indices.default of \[1, 8, 16\]; write",
        module,
        optimizer,
        lambda m, b: torch.nn.functional.max_pool2d(m(b["x"])[None], 2).sum(),
        batch,
        error=meshwright.Unimplemented,
    )


def test_a_module_or_batch_of_another_plan_is_refused_by_its_path(plan):
    from meshwright.torch._layouts import placements
    from meshwright.torch.applying import _check_fit

    narrow = Two()
    narrow.up = nn.Linear(16, 32)
    with pytest.raises(
        meshwright.PlanMismatch,
        match=r"params\['up.weight'\] has the shape \[32, 16\]",
    ):
        _check_fit(narrow, placements(plan))
    with pytest.raises(meshwright.PlanMismatch, match="'up.bias'.* is missing"):
        module = Two()
        module.up = nn.Linear(16, 64, bias=False)
        _check_fit(module, placements(plan))
    for batch, match in (
        ({"x": torch.ones(4, 16)}, r"batch\['x'\] has the shape \[4, 16\]"),
        ({"z": torch.ones(8, 16)}, r"batch\['z'\] is new"),
        ({"x": torch.ones(8, 16)}, r"batch\['y'\] is missing; the step"),
    ):
        with pytest.raises(meshwright.PlanMismatch, match=match):
            meshwright.torch.shard_batch(plan, batch, None)


def test_torch_and_jax_are_imported_when_they_are_used():
    code = (
        "import sys, meshwright\n"
        "assert not {'torch', 'jax'} & set(sys.modules)\n"
        "import meshwright.torch\n"
        "assert 'jax' not in sys.modules\n"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )


def test_a_version_of_torch_that_is_too_old():
    code = (
        "import torch\n"
        "torch.__version__ = '2.11.0'\n"
        "import meshwright.torch\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "needs PyTorch 2.12 or later, and 2.11.0 is" in done.stderr
