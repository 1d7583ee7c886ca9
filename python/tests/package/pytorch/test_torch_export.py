"""The exported step is torch's step, and the planner finds its layers."""

from __future__ import annotations

import json
import subprocess

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

import torch_models  # noqa: E402
from jax_runs import Run, largest_difference, train_both  # noqa: E402
from torch_models import CASES, EPSILON, make  # noqa: E402

import meshwright  # noqa: E402
import meshwright.torch  # noqa: E402

TOLERANCE = 1e-4
TRANSFORMERS = ("gpt2", "llama", "llama_grouped", "bert", "qwen3", "encoder")


def assert_close(exported, eager, tolerance=TOLERANCE):
    assert max(abs(a - b) for a, b in zip(exported, eager)) < tolerance, (
        exported,
        eager,
    )


def assert_trains_alike(
    case, optimizer, losses=TOLERANCE, parameters=TOLERANCE, **options
):
    exported, eager, run = train_both(case, optimizer, **options)
    assert_close(exported, eager, losses)
    assert largest_difference(run, case.module) < parameters
    return run


def analyze(binary, step, tmp_path):
    step.save(tmp_path / "step.hlo.pb")
    return json.loads(
        subprocess.run(
            [binary, "analyze", tmp_path / "step.hlo.pb", "--mesh", "1x2",
             "--json"],
            check=True,
            capture_output=True,
        ).stdout
    )


@pytest.mark.parametrize("name", CASES)
def test_three_steps_equal_torchs(name):
    case = make(name)
    assert_trains_alike(case, case.optimizer)


@pytest.mark.parametrize("name", CASES)
def test_three_steps_of_sgd_give_torchs_parameters(name):
    case = make(name)
    optimizer = torch.optim.SGD(case.module.parameters(), lr=0.1)
    assert_trains_alike(case, optimizer)


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sgd with momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-3, eps=EPSILON, amsgrad=True),
    "adamw in groups": lambda p: torch.optim.AdamW(
        [
            {"params": [x for x in p if x.dim() > 1]},
            {"params": [x for x in p if x.dim() <= 1], "weight_decay": 0.0},
        ],
        lr=1e-3,
        eps=EPSILON,
    ),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-4, eps=EPSILON),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_update_as_torchs(name):
    case = make("llama")
    optimizer = OPTIMIZERS[name](list(case.module.parameters()))
    assert_trains_alike(case, optimizer)


@pytest.mark.parametrize(
    ("make_optimizer", "match"),
    (
        (torch.optim.Adafactor, "optimizer: Adafactor reads the values"),
        (torch.optim.LBFGS, "optimizer: the step of LBFGS takes more"),
    ),
)
def test_an_optimizer_that_decides_on_the_host_is_refused(
    make_optimizer, match
):
    case = make("llama")
    optimizer = make_optimizer(case.module.parameters(), lr=1e-3)
    with pytest.raises(meshwright.InvalidArgument, match=match):
        meshwright.torch.export(case.module, optimizer, case.loss, case.batch)


def test_gradients_are_clipped_as_by_torch():
    case = make("llama")
    optimizer = torch.optim.SGD(case.module.parameters(), lr=0.5)
    assert_trains_alike(
        case,
        optimizer,
        max_grad_norm=0.25,
        before_update=lambda: torch.nn.utils.clip_grad_norm_(
            case.module.parameters(), 0.25
        ),
    )


def test_accumulation_takes_the_mean_of_micro_batches():
    case = make("llama")
    optimizer = torch.optim.SGD(case.module.parameters(), lr=0.1)
    step = meshwright.torch.export(
        case.module, optimizer, case.loss, case.batch, accumulate=3
    )
    run = Run(case.module, step)
    micro = [
        {name: torch_models.words(seed) for name in case.batch}
        for seed in range(3)
    ]
    for _ in range(3):
        stacked = {n: torch.stack([b[n] for b in micro]) for n in case.batch}
        exported = run(stacked)
        optimizer.zero_grad()
        eager = 0.0
        for batch in micro:
            loss = case.loss(case.module, batch) / 3
            loss.backward()
            eager += loss.item()
        optimizer.step()
        assert abs(exported - eager) < TOLERANCE
    assert largest_difference(run, case.module) < 1e-4


def test_buffers_and_tied_weights_are_one_argument_each():
    case = make("gpt2")
    step = meshwright.torch.export(
        case.module, case.optimizer, case.loss, case.batch
    )
    assert "params['transformer.wte.weight']" in step.arguments
    assert not any("lm_head" in name for name in step.arguments)
    case = make("resnet")
    step = meshwright.torch.export(
        case.module, case.optimizer, case.loss, case.batch
    )
    assert "buffers['1.running_var']" in step.arguments
    assert "optimizer['0.weight']['exp_avg']" in step.arguments


def test_checkpointed_layers_recompute_the_same_dropout():
    def losses(checkpointed):
        torch.manual_seed(0)
        case = torch_models.gpt2(dropout=0.2)
        case.module.train()
        if checkpointed:
            case.module.gradient_checkpointing_enable(
                gradient_checkpointing_kwargs={"use_reentrant": False}
            )
        optimizer = torch.optim.SGD(case.module.parameters(), lr=0.1)
        step = meshwright.torch.export(
            case.module, optimizer, case.loss, case.batch
        )
        run = Run(case.module, step)
        return [run(case.batch, key) for key in range(3)]

    plain = losses(False)
    assert len(set(plain)) == 3  # dropout is there
    assert_close(losses(True), plain, 1e-5)


def test_a_trace_leaves_the_random_numbers_as_they_are():
    case = make("gpt2")
    before = torch.get_rng_state()
    meshwright.torch.export(case.module, case.optimizer, case.loss, case.batch)
    assert torch.equal(torch.get_rng_state(), before)


def test_autocast_and_pure_bfloat16():
    case = make("autocast")
    assert_trains_alike(case, case.optimizer, 3e-2, 1e-3)
    case = make("llama")
    case.module.bfloat16()
    # Weights of 0.1 are 5e-4 apart.
    run = assert_trains_alike(case, case.optimizer, 3e-2, 2e-3)
    weight = run.params["model.layers.0.mlp.up_proj.weight"]
    assert str(weight.dtype) == "bfloat16"


@pytest.mark.parametrize("name", TRANSFORMERS)
@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16), ids=str)
def test_layers_of_four_blocks_fold_with_their_81_configurations(
    binary, name, dtype, tmp_path
):
    case = make(name)
    case.module.to(dtype)
    step = meshwright.torch.export(
        case.module, case.optimizer, case.loss, case.batch
    )
    found = analyze(binary, step, tmp_path)
    folded = [t for t in found["segment_types"] if t["instances"] > 1]
    assert [
        (t["blocks"], t["instances"], t["configurations"]) for t in folded
    ] == [(4, torch_models.LAYERS, 81)]
    assert found["barriers"] == []


@pytest.mark.parametrize("name", ("gpt2", "llama"))
def test_checkpointed_layers_fold_with_what_they_compute_again(
    binary, name, tmp_path
):
    case = make(name)
    case.module.gradient_checkpointing_enable(
        gradient_checkpointing_kwargs={"use_reentrant": False}
    )
    step = meshwright.torch.export(
        case.module, case.optimizer, case.loss, case.batch
    )
    assert b"opt-barrier" in step.module
    found = analyze(binary, step, tmp_path)
    folded = [t for t in found["segment_types"] if t["instances"] > 1]
    assert [
        (t["blocks"], t["instances"], t["configurations"]) for t in folded
    ] == [(4, torch_models.LAYERS, 81)]


def test_layers_that_alternate_fold_as_two_types(binary, tmp_path):
    case = make("gemma2")
    assert_trains_alike(case, case.optimizer)
    case = make("gemma2")
    step = meshwright.torch.export(
        case.module, case.optimizer, case.loss, case.batch
    )
    found = analyze(binary, step, tmp_path)
    folded = [t for t in found["segment_types"] if t["instances"] > 1]
    assert [
        (t["blocks"], t["instances"], t["configurations"]) for t in folded
    ] == [(4, 2, 81), (4, 2, 81)]
    layers = found["segment_sequence"][1:5]
    assert layers[0] == layers[2] != layers[1] == layers[3]


def test_a_module_on_meta_is_exported_without_its_memory():
    with torch.device("meta"):
        case = torch_models.llama()
    step = meshwright.torch.export(
        case.module, case.optimizer, case.loss, case.batch
    )
    real = make("llama")
    assert step.arguments == meshwright.torch.export(
        real.module, real.optimizer, real.loss, real.batch
    ).arguments
