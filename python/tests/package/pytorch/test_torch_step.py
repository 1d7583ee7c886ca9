"""The trace of a step: what it allocates, keeps, leaves behind and refuses."""

from __future__ import annotations

import gc
import weakref

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("jax", reason="jax is not installed")

import jax  # noqa: E402
from jax_runs import Run, largest_difference, train_both  # noqa: E402
from torch import nn  # noqa: E402
from torch._subclasses import FakeTensor  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402
from torch_models import Case  # noqa: E402

import meshwright  # noqa: E402
import meshwright.torch  # noqa: E402


def squares(module, batch):
    return (module(batch["x"]) - batch["y"]).square().mean()


def case_of(width=8, loss=squares):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, 8))
    batch = {"x": torch.ones(4, 8), "y": torch.zeros(4, 8)}
    return Case(module, batch, loss)


def export(case, optimizer=None):
    return meshwright.torch.export(
        case.module, optimizer or case.optimizer, case.loss, case.batch
    )


def assert_trains_alike(case, optimizer):
    exported, eager, run = train_both(case, optimizer)
    assert exported == pytest.approx(eager, abs=1e-6)
    assert largest_difference(run, case.module) < 1e-5


class Allocated(TorchDispatchMode):
    """The bytes of all storages that operators return."""

    def __init__(self):
        super().__init__()
        self.sizes = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if type(leaf) is torch.Tensor and leaf.device.type != "meta":
                storage = leaf.untyped_storage()
                self.sizes[storage.data_ptr()] = storage.nbytes()
        return result


def test_neither_state_nor_gradients_are_allocated():
    case = case_of(width=4096)
    optimizer = case.optimizer
    held = {p.untyped_storage().data_ptr() for p in case.module.parameters()}
    with Allocated() as allocated:
        export(case, optimizer)
    new = sum(n for at, n in allocated.sizes.items() if at not in held)
    assert 0 < new < 10_000  # the batch is copied
    assert optimizer.state == {}
    assert all(p.grad is None for p in case.module.parameters())


def test_a_step_keeps_neither_module_nor_optimizer():
    case = case_of()
    optimizer = case.optimizer
    step = export(case, optimizer)
    gone = [weakref.ref(optimizer), weakref.ref(next(case.module.parameters()))]
    del case, optimizer
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
    assert step.lowered.arguments


class Halved(torch.optim.SGD):
    """Has an attribute that copies of optimizers lose."""

    def __init__(self, parameters):
        super().__init__(parameters, lr=0.1)
        self.scale = 0.5

    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad.mul_(self.scale)
        return super().step(closure)


def test_an_optimizer_may_have_attributes_of_its_own():
    case = case_of()
    optimizer = Halved(case.module.parameters())
    steps = []
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    export(case, optimizer)
    assert steps == []
    assert_trains_alike(case, optimizer)


def test_marks_of_a_profiler_are_no_part_of_a_step():
    def marked(module, batch):
        with torch.profiler.record_function("loss"):
            return squares(module, batch)

    case = case_of(loss=marked)
    # From its first step on, torch's own class is marked.
    torch.optim.SGD(case.module.parameters(), lr=0.1).step()
    optimizer = Halved(case.module.parameters())
    assert_trains_alike(case, optimizer)


class Counted(torch.optim.SGD):
    """Counts its steps as a number."""

    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                held = self.state[parameter]
                held["count"] = held.get("count", 0) + 1
        return super().step(closure)


class Reading(torch.optim.SGD):
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad.norm() > 1:
                    parameter.grad.mul_(0.5)
        return super().step(closure)


@pytest.mark.parametrize(
    ("kind", "match"),
    (
        (Counted, r"optimizer: Counted keeps state\['count'\] as a number"),
        (Reading, "optimizer: Reading reads the values of a tensor"),
        (torch.optim.Adagrad, "optimizer: Adagrad reads the values"),
        (torch.optim.LBFGS, "optimizer: the step of LBFGS takes more"),
    ),
)
def test_an_optimizer_that_decides_on_the_host_is_refused(kind, match):
    case = case_of()
    optimizer = kind(case.module.parameters(), lr=0.1)
    with pytest.raises(meshwright.InvalidArgument, match=match):
        export(case, optimizer)


def test_elements_are_set_by_a_mask():
    def masked(module, batch):
        found = module(batch["x"])
        found[:, batch["mask"]] = 0.5
        found[batch["x"] > 0.5] = 0.25
        return found.square().mean()

    case = case_of(loss=masked)
    case.batch["x"] = torch.arange(32.0).reshape(4, 8) / 32
    case.batch["mask"] = torch.arange(8) % 3 == 0
    optimizer = torch.optim.SGD(case.module.parameters(), lr=0.1)
    assert_trains_alike(case, optimizer)


def test_a_loss_may_write_into_its_batch():
    def masked(module, batch):
        labels = batch["y"]
        labels[labels == 0] = -100
        batch["x"][:, 0].zero_()
        return nn.functional.cross_entropy(module(batch["x"]), labels)

    case = case_of(loss=masked)
    case.batch["y"] = torch.tensor([0, 3, 5, 0])
    optimizer = torch.optim.SGD(case.module.parameters(), lr=0.1)
    export(case, optimizer)
    assert case.batch["y"].tolist() == [0, 3, 5, 0]
    assert_trains_alike(case, optimizer)


class Overwriting(nn.Linear):
    """Writes into views of its output."""

    def forward(self, x):
        found = super().forward(x)
        found[:, 0] += 1
        found[:, 2:5].mul_(2)
        return found


def test_a_module_may_write_into_views_of_its_values():
    case = case_of()
    case.module[0] = Overwriting(8, 8)
    optimizer = torch.optim.SGD(case.module.parameters(), lr=0.1)
    assert_trains_alike(case, optimizer)


def test_a_loss_of_one_element_is_a_loss():
    case = case_of(loss=lambda m, b: squares(m, b).reshape(1))
    optimizer = torch.optim.SGD(case.module.parameters(), lr=0.1)
    assert_trains_alike(case, optimizer)


class NormOfCuda(nn.BatchNorm1d):
    """Calls the operator that torch takes for tensors on CUDA."""

    def forward(self, x):
        self.num_batches_tracked.add_(1)
        return torch.ops.aten.cudnn_batch_norm(
            x,
            self.weight,
            self.bias,
            self.running_mean,
            self.running_var,
            True,
            self.momentum,
            self.eps,
        )[0]


def test_batch_norms_on_cuda_keep_their_statistics():
    def case_with(kind):
        torch.manual_seed(0)
        module = nn.Sequential(nn.Linear(8, 8), kind(8))
        batch = {"x": torch.arange(32.0).reshape(4, 8), "y": torch.zeros(4, 8)}
        return Case(module, batch, squares)

    case, wanted = case_with(NormOfCuda), case_with(nn.BatchNorm1d)
    optimizer = torch.optim.SGD(case.module.parameters(), lr=0.1)
    run = Run(case.module, export(case, optimizer))
    run(case.batch)
    wanted.loss(wanted.module, wanted.batch).backward()
    torch.optim.SGD(wanted.module.parameters(), lr=0.1).step()
    assert largest_difference(run, wanted.module) < 1e-5


class Remembering(nn.Module):
    """Sets attributes and a buffer while it runs."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        self.cos = x.cos()
        self.register_buffer("sin", x.sin())
        self.inner.last = self.inner(x)
        return self.inner.last * self.cos + self.sin


def test_a_trace_leaves_no_attribute_in_the_module():
    case = Case(Remembering(), case_of().batch, squares)
    export(case)
    module = case.module
    assert module.calls == 0 and not hasattr(module, "cos")
    assert not hasattr(module.inner, "last")
    assert dict(module.named_buffers()) == {}
    squares(module, case.batch).backward()
    assert module.calls == 1 and not isinstance(module.cos, FakeTensor)


class Checkpointed(nn.Sequential):
    def forward(self, x):
        return checkpoint(super().forward, x, use_reentrant=False)


def layers_of(kind):
    """Two layers with dropout, and a linear one."""
    torch.manual_seed(0)
    layers = (
        kind(nn.Linear(8, 8), nn.Dropout(0.5), nn.Tanh()) for _ in range(2)
    )
    batch = {"x": torch.ones(4, 8), "y": torch.zeros(4, 8)}
    return Case(nn.Sequential(*layers, nn.Linear(8, 8)), batch, squares)


def equations_of(step):
    """Of the step in JAX, by the name of their primitive."""
    lowered = step.lowered
    found = jax.make_jaxpr(lowered.function)(*lowered.arguments).jaxpr
    names = {}
    for equation in found.eqns:
        names.setdefault(equation.primitive.name, []).append(equation)
    return found, names


def test_a_checkpointed_layer_is_computed_again_behind_a_barrier():
    case = layers_of(nn.Sequential)
    _, plain = equations_of(export(case))
    assert len(plain["tanh"]) == 2 and "optimization_barrier" not in plain
    case = layers_of(Checkpointed)
    found, again = equations_of(export(case))
    assert len(again["tanh"]) == 4 and len(again["optimization_barrier"]) == 2
    # What nobody reads of a barrier holds nothing back.
    read = {id(one) for equation in found.eqns for one in equation.invars}
    for barrier in again["optimization_barrier"]:
        assert all(id(one) in read for one in barrier.outvars)
        # The layer's input, weight and bias, the gradient and the key.
        assert len(barrier.outvars) == 5


class Heads(nn.Module):
    """Two, of which the products alone are checkpointed, or not."""

    def __init__(self, again):
        super().__init__()
        self.again = again
        self.all = nn.Linear(8, 24)

    def forward(self, x):
        core = nn.functional.scaled_dot_product_attention
        parts = [
            part.view(4, 6, 2, 4).transpose(1, 2)
            for part in self.all(x).chunk(3, -1)
        ]
        found = (
            checkpoint(core, *parts, use_reentrant=False)
            if self.again
            else core(*parts)
        )
        return found.transpose(1, 2).reshape(4, 6, 8)


def test_products_of_heads_are_not_merged_behind_a_barrier():
    def batches_of(again):
        torch.manual_seed(0)
        batch = {"x": torch.ones(4, 6, 8), "y": torch.zeros(4, 6, 8)}
        _, found = equations_of(export(Case(Heads(again), batch, squares)))
        dimensions = [
            it.params["dimension_numbers"][1][0] for it in found["dot_general"]
        ]
        return [len(it) for it in dimensions if len(it) > 0]

    assert batches_of(again=False) == [2] * 6
    # What nobody reads again, the second product, is not computed again.
    assert batches_of(again=True) == [2] * 7


def test_a_checkpointed_layer_drops_the_same_elements_again():
    def losses_with(kind):
        case = layers_of(kind)
        optimizer = torch.optim.SGD(case.module.parameters(), lr=0.1)
        run = Run(case.module, export(case, optimizer))
        return [run(case.batch, key) for key in range(3)]

    plain = losses_with(nn.Sequential)
    assert len(set(plain)) == 3  # dropout is there
    assert losses_with(Checkpointed) == pytest.approx(plain, abs=1e-6)
