"""One whole training step: forward, loss, backward, update, donated state.

Concept: every model becomes the same function

    (params, opt_state, statistics, scale, batch)
        -> (params, opt_state, statistics, scale, loss, metrics)

of which a model without running statistics, a step without a loss scale has
one part less. All but the batch is state and donated, so the lowered module
carries an ``input_output_alias`` for every tensor of it. Loss and metrics are
the only outputs that are neither state nor descendants of a gradient.

Shapes: ``params`` is the model's own tree; ``opt_state`` is optax's (AdamW: a
step count and two moments shaped as ``params``); ``batch`` is a dict of arrays
whose first dimension is the batch, and perhaps a ``dropout_key``. JAX flattens
arguments in this order, the keys of a dict sorted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from meshwright_models.model_shape import ModelShape
from meshwright_models.step_options import StepOptions

PyTree = Any
Batch = dict[str, jax.Array]

IGNORED_LABEL = -100
"""A position with this label adds nothing to the loss (Hugging Face's rule)."""

DROPOUT_KEY = "dropout_key"
"""Name of the random key in a batch; it has no batch dimension."""


@dataclasses.dataclass(frozen=True)
class Model:
    """A loss over abstract inputs; no array behind it."""

    name: str
    params: PyTree
    """Tree of ``jax.ShapeDtypeStruct``."""
    batch: dict[str, jax.ShapeDtypeStruct]
    loss: Callable[..., Any]
    """Parameters and batch to one float32 scalar; with ``metrics``, to a
    scalar and a dict of arrays; with ``statistics``, it takes them third and
    gives a scalar and the new ones."""
    statistics: PyTree = None
    """Running statistics of a batch norm: replaced by each step."""
    metrics: bool = False
    platform: str = "cpu"
    """Lowered for: on "cpu" factors and triangles become calls of a library
    that jaxlib brings along, on "tpu" they are XLA's own operations."""


def token_batch(
    shape: ModelShape, *names: str
) -> dict[str, jax.ShapeDtypeStruct]:
    """An abstract batch: one int32 ``[batch, seq]`` array per name."""
    tokens = jax.ShapeDtypeStruct((shape.batch, shape.seq), jnp.int32)
    return {name: tokens for name in names}


def random_key(shape: ModelShape) -> dict[str, jax.ShapeDtypeStruct]:
    """The batch's random key, where the model drops out at all."""
    if not shape.dropout:
        return {}
    return {DROPOUT_KEY: jax.ShapeDtypeStruct((2,), jnp.uint32)}


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Mean cross-entropy over the labels that are not ``IGNORED_LABEL``.

    Shapes: logits ``[..., vocab]``, labels ``[...]``, already aligned with the
    logits: a causal model's labels are its inputs shifted by one, which is the
    data loader's work. One-hot labels as in Hugging Face's flax training
    scripts, so that the vocabulary may be split.
    """
    logits = logits.astype(jnp.float32)
    weights = (labels != IGNORED_LABEL).astype(logits.dtype)
    targets = jax.nn.one_hot(labels, logits.shape[-1], dtype=logits.dtype)
    losses = optax.softmax_cross_entropy(logits, targets)
    return jnp.sum(losses * weights) / jnp.sum(weights)


def make_optimizer(options: StepOptions) -> optax.GradientTransformation:
    rate = options.learning_rate
    match options.optimizer:
        case "adamw":
            optimizer = optax.adamw(rate)
        case "adam":
            optimizer = optax.adam(rate)
        case "sgd":
            optimizer = optax.sgd(rate)
        case "momentum":
            optimizer = optax.sgd(rate, momentum=0.9)
        case "adafactor":
            # Factors the second moment of all but tiny weights.
            optimizer = optax.adafactor(rate, min_dim_size_to_factor=16)
    if options.clip_norm is not None:
        clip = optax.clip_by_global_norm(options.clip_norm)
        optimizer = optax.chain(clip, optimizer)
    return optimizer


def _whole_loss(model: Model) -> Callable[..., Any]:
    """(params, statistics, batch) -> (loss, (statistics, metrics))."""

    def loss(params: PyTree, statistics: PyTree, batch: Batch) -> Any:
        if model.statistics is not None:
            value, statistics = model.loss(params, batch, statistics)
            return value, (statistics, {})
        if model.metrics:
            value, metrics = model.loss(params, batch)
            return value, (statistics, metrics)
        return model.loss(params, batch), (statistics, {})

    return loss


def _micro_batch(batch: Batch, index: jax.Array, options: StepOptions) -> Batch:
    """Number ``index`` of the micro-batches that are slices of the batch."""

    def part(name: str, values: jax.Array) -> jax.Array:
        if name == DROPOUT_KEY:
            return jax.random.fold_in(values, index)
        size = values.shape[0] // options.accumulate
        return jax.lax.dynamic_slice_in_dim(values, index * size, size)

    return {name: part(name, values) for name, values in batch.items()}


def _accumulate(
    value_and_grad: Callable[..., Any], options: StepOptions
) -> Callable[..., Any]:
    """As ``value_and_grad``, averaged over the micro-batches in a loop."""

    def averaged(params: PyTree, statistics: PyTree, batch: Batch) -> Any:
        key = batch.get(DROPOUT_KEY)
        arrays = {k: v for k, v in batch.items() if k != DROPOUT_KEY}

        def add(carry: Any, micro: Batch) -> Any:
            (total, sums), statistics = carry
            (value, (statistics, metrics)), gradients = value_and_grad(
                params, statistics, micro
            )
            sums = jax.tree.map(jnp.add, sums, gradients)
            return ((total + value, sums), statistics), metrics

        zeros = jax.tree.map(jnp.zeros_like, params)
        start = ((jnp.zeros(()), zeros), statistics)
        if options.accumulation_loop == "fori":

            def body(index: jax.Array, carry: Any) -> Any:
                return add(carry, _micro_batch(batch, index, options))[0]

            end, metrics = jax.lax.fori_loop(
                0, options.accumulate, body, start
            ), {}
        else:
            if key is not None:
                arrays[DROPOUT_KEY] = jax.random.split(key, options.accumulate)
            end, metrics = jax.lax.scan(add, start, arrays)
            metrics = jax.tree.map(lambda m: jnp.mean(m, axis=0), metrics)
        (total, sums), statistics = end
        scale = 1.0 / options.accumulate
        gradients = jax.tree.map(lambda g: g * scale, sums)
        return (total * scale, (statistics, metrics)), gradients

    return averaged


_SCALE_UP_AFTER = 2000
_LARGEST_SCALE = 2.0**24


def _next_scale(scale: PyTree, finite: jax.Array) -> PyTree:
    """Halved after an overflow, doubled after enough steps without one."""
    good = jnp.where(finite, scale["good_steps"] + 1, 0)
    grow = good >= _SCALE_UP_AFTER
    value = jnp.where(finite, scale["value"], scale["value"] * 0.5)
    value = jnp.where(grow, jnp.minimum(value * 2, _LARGEST_SCALE), value)
    return {"good_steps": jnp.where(grow, 0, good), "value": value}


def _batch_of_step(model: Model, options: StepOptions) -> PyTree:
    if options.accumulate == 1 or options.accumulation_loop == "fori":
        return model.batch
    return {
        name: spec
        if name == DROPOUT_KEY
        else jax.ShapeDtypeStruct(
            (options.accumulate, *spec.shape), spec.dtype
        )
        for name, spec in model.batch.items()
    }


def make_train_step(model: Model, options: StepOptions) -> Callable[..., Any]:
    """The step: (params, opt_state, statistics, scale, batch) -> the same
    without the batch, and loss and metrics. A part that a model does not have
    is None, and no argument."""
    optimizer = make_optimizer(options)
    loss_of = _whole_loss(model)

    def train_step(
        params: PyTree,
        opt_state: PyTree,
        statistics: PyTree,
        scale: PyTree,
        batch: Batch,
    ) -> Any:
        def scaled(*arguments: Any) -> Any:
            value, more = loss_of(*arguments)
            return (value if scale is None else value * scale["value"]), more

        value_and_grad = jax.value_and_grad(scaled, has_aux=True)
        if options.accumulate > 1:
            value_and_grad = _accumulate(value_and_grad, options)
        (loss, (statistics, metrics)), gradients = value_and_grad(
            params, statistics, batch
        )
        if scale is not None:
            loss = loss / scale["value"]
            gradients = jax.tree.map(lambda g: g / scale["value"], gradients)
        updates, new_opt_state = optimizer.update(gradients, opt_state, params)
        new_params = optax.apply_updates(params, updates)
        if scale is not None:
            finite = jnp.all(
                jnp.stack(
                    [
                        jnp.all(jnp.isfinite(g))
                        for g in jax.tree.leaves(gradients)
                    ]
                )
            )

            def keep(new: jax.Array, old: jax.Array) -> jax.Array:
                return jnp.where(finite, new, old)

            new_params = jax.tree.map(keep, new_params, params)
            new_opt_state = jax.tree.map(keep, new_opt_state, opt_state)
            scale = _next_scale(scale, finite)
        return new_params, new_opt_state, statistics, scale, loss, metrics

    return train_step


def lower_training_step(
    model: Model, options: StepOptions | None = None
) -> jax.stages.Lowered:
    """Lowers one step of ``model``, by default AdamW with its state donated."""
    options = options or StepOptions()
    batch = _batch_of_step(model, options)
    if options.inference:
        loss_of = _whole_loss(model)

        def loss_step(params: PyTree, statistics: PyTree, batch: Batch) -> Any:
            loss, (_, metrics) = loss_of(params, statistics, batch)
            return loss, metrics

        loss_step.__name__ = f"{model.name}_loss"
        return jax.jit(loss_step).lower(model.params, model.statistics, batch)

    train_step = make_train_step(model, options)
    train_step.__name__ = f"{model.name}_train_step"
    opt_state = jax.eval_shape(make_optimizer(options).init, model.params)
    scale = None
    if options.loss_scale:
        scale = {
            "good_steps": jax.ShapeDtypeStruct((), jnp.int32),
            "value": jax.ShapeDtypeStruct((), jnp.float32),
        }
    state = (model.params, opt_state, model.statistics, scale)
    donated = tuple(range(len(state))) if options.donate else ()
    step = jax.jit(train_step, donate_argnums=donated)
    return step.trace(*state, batch).lower(lowering_platforms=(model.platform,))
