"""A student that follows its own average: self-distillation without labels.

Concept: student and teacher, one vision transformer each, see two views of
every picture; the student learns to say of one view what the teacher says of
the other. The teacher's words are centred and sharpened; teacher and centre
are running averages, and state without gradients.

Source: Caron et al., "Emerging Properties in Self-Supervised Vision
Transformers", Algorithm 1.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from meshwright_models.model_shape import ModelShape
from meshwright_models.own_step import OwnStep, descend, trained
from meshwright_models.training_step import PyTree
from unusual import layers, pictures

_KEEP = 0.996
_KEEP_CENTRE = 0.9
_STUDENT_HEAT = 0.1
_TEACHER_HEAT = 0.04


def speak(params: PyTree, image: jax.Array, side: int) -> jax.Array:
    """pictures to scores ``[b, classes]``, from a token of its own."""
    x = layers.dense(params["stem"], pictures.patches(image, side))
    own = jnp.broadcast_to(params["token"], (x.shape[0], 1, x.shape[-1]))
    x = jnp.concatenate([own, x], axis=1) + params["positions"]
    for block in params["blocks"]:
        x = layers.block(block, x)
    x = layers.layer_norm(params["norm"], x[:, 0])
    x = layers.mlp(params["project"], x)
    x = x * jax.lax.rsqrt(jnp.sum(jnp.square(x), -1, keepdims=True) + 1e-6)
    return x @ params["prototypes"]


def build(name: str, shape: ModelShape) -> OwnStep:
    optimizer = optax.adamw(1e-3)
    m, narrow = shape.hidden, shape.hidden // 2
    params = {
        "stem": layers.dense_params(pictures.patch_size(shape), m),
        "token": layers.weight(m),
        "positions": layers.weight(1 + pictures.patch_count(shape), m),
        "blocks": [layers.block_params(shape)] * shape.layers,
        "norm": layers.norm_params(m),
        "project": layers.mlp_params(m, shape.ffn, narrow),
        "prototypes": layers.weight(narrow, shape.vocab),
    }

    def loss(params: PyTree, taught: jax.Array, views: jax.Array):
        said = jax.nn.log_softmax(
            speak(params, views, shape.patch) / _STUDENT_HEAT
        )
        left, right = jnp.split(said, 2)
        crossed = jnp.concatenate([right, left])
        return -jnp.mean(jnp.sum(taught * crossed, axis=-1))

    def step(state: PyTree, frozen: PyTree, batch: PyTree) -> tuple:
        views = jnp.concatenate([batch["first"], batch["second"]])
        raw = speak(state["teacher"], views, shape.patch)
        taught = jax.nn.softmax((raw - state["centre"]) / _TEACHER_HEAT)
        student = state["student"]
        value, gradients = jax.value_and_grad(loss)(
            student["params"], taught, views
        )
        student = descend(student, gradients, optimizer)

        def follow(old: jax.Array, new: jax.Array) -> jax.Array:
            return _KEEP * old + (1 - _KEEP) * new

        centre = _KEEP_CENTRE * state["centre"]
        new = {
            "centre": centre + (1 - _KEEP_CENTRE) * jnp.mean(raw, axis=0),
            "student": student,
            "teacher": jax.tree.map(
                follow, state["teacher"], student["params"]
            ),
        }
        return new, value

    return OwnStep(
        name=name,
        state={
            "centre": layers.weight(shape.vocab),
            "student": trained(params, optimizer),
            "teacher": params,
        },
        batch=dict.fromkeys(("first", "second"), pictures.pixels(shape)),
        step=step,
    )
