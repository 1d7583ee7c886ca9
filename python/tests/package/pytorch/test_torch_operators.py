"""Rules of operators, one by one, against torch's own results."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("jax", reason="jax is not installed")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import meshwright.torch._random  # noqa: E402, F401
from meshwright.torch._operators import (  # noqa: E402
    elementwise,
    find_rule,
    jax_type,
    missing_rules,
)
from meshwright.torch._operators._table import _RULES  # noqa: E402

aten = torch.ops.aten
X = torch.tensor([[-2.5, -1.5, -0.4], [0.3, 1.5, 2.75]])
Y = torch.tensor([[0.5, -2.0, 1.5], [3.0, -0.7, 2.0]])
POSITIVE = torch.tensor([0.25, 1.0, 9.5])
SMALL = torch.tensor([-0.9, 0.0, 0.6])
ODD = torch.tensor([1.0, torch.inf, -torch.inf, torch.nan])
# Differences of large ones are lost in float32.
I = torch.tensor([-16_777_217, -7, -1, 0, 3, 2**26 + 1])  # noqa: E741
J = torch.tensor([3, 2, 7, 5, -2, 1])
SHIFTS = torch.tensor([0, 1, 2, 3, 1, 0])
TRUTHS, OTHERS = torch.tensor([True, False]), torch.tensor([True, True])

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
CURVES = (
    "atan", "ceil", "cos", "cosh", "erf", "exp", "expm1", "floor", "gelu",
    "leaky_relu", "elu", "hardtanh", "neg", "reciprocal", "relu", "round",
    "sigmoid", "sign", "sin", "sinh", "tan", "tanh", "trunc", "abs",
)  # fmt: skip
SAME = (
    "alias", "alias_copy", "clone", "detach", "detach_copy", "lift_fresh",
    "lift_fresh_copy",
)  # fmt: skip


def calls():
    """(operator, arguments, named arguments)."""
    for name in (*CURVES, *SAME):
        yield getattr(aten, name).default, (X,), {}
    for name in ("log", "log10", "log1p", "log2", "rsqrt", "sqrt"):
        yield getattr(aten, name).default, (POSITIVE,), {}
    for name in ("acos", "asin"):
        yield getattr(aten, name).default, (SMALL,), {}
    for name in ("isinf", "isnan"):
        yield getattr(aten, name).default, (ODD,), {}
    for name in ("bitwise_not", "neg", "abs", "sign", "exp", "sqrt", "rsqrt"):
        yield getattr(aten, name).default, (I,), {}
    for name in ("erf", "reciprocal", "sigmoid", "logical_not"):
        yield getattr(aten, name).default, (I,), {}
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        for pair in ((I, J), (TRUTHS, OTHERS)):
            yield getattr(aten, name).Tensor, pair, {}
    for name in ("bitwise_left_shift", "bitwise_right_shift"):
        yield getattr(aten, name).Tensor, (J, SHIFTS), {}
    for name in ("logical_and", "logical_or", "logical_xor"):
        yield getattr(aten, name).default, (TRUTHS, OTHERS), {}
    for name in ("maximum", "minimum", "atan2"):
        yield getattr(aten, name).default, (X, Y), {}
    for name in (*COMPARISONS, "mul", "fmod", "remainder"):
        for pair in ((X, Y), (I, J), (I, POSITIVE[:1])):
            yield getattr(aten, name).Tensor, pair, {}
        yield getattr(aten, name).Scalar, (X, 1.5), {}
        yield getattr(aten, name).Scalar, (I, 2), {}
    for name in ("add", "sub", "rsub"):
        for pair in ((X, Y), (I, J), (X, J[:3])):
            for alpha in (1, 3):
                yield getattr(aten, name).Tensor, pair, {"alpha": alpha}
        yield getattr(aten, name).Scalar, (I, 0.5), {}
    for pair in ((X, Y), (I, J), (X, J[:3])):
        yield aten.div.Tensor, pair, {}
        yield aten.floor_divide.default, pair, {}
        for mode in (None, "floor", "trunc"):
            yield aten.div.Tensor_mode, pair, {"rounding_mode": mode}
    for mode in (None, "floor", "trunc"):
        yield aten.div.Scalar_mode, (I, 2), {"rounding_mode": mode}
        yield aten.div.Scalar_mode, (I, 2.5), {"rounding_mode": mode}
    for exponent in (2, 3, 0, 2.0, 3.0, -1.0):
        yield aten.pow.Tensor_Scalar, (X, exponent), {}
    yield aten.pow.Tensor_Scalar, (POSITIVE, 0.5), {}
    for exponent in (2, 3, 0.5, 2.0, 1.5, -1.0):
        yield aten.pow.Tensor_Scalar, (J.abs(), exponent), {}
    yield aten.pow.Scalar, (2, X), {}
    yield aten.pow.Scalar, (2.5, J), {}
    yield aten.pow.Tensor_Tensor, (POSITIVE, X), {}
    yield aten.pow.Tensor_Tensor, (J, SHIFTS), {}
    for decimals in (0, 1, -1, 2):
        yield aten.round.decimals, (X * 7.77,), {"decimals": decimals}
    yield aten.gelu.default, (X,), {"approximate": "tanh"}
    yield aten.leaky_relu.default, (X, 0.2), {}
    yield aten.elu.default, (X, 1.5, 2, 0.5), {}
    yield aten.hardtanh.default, (X, -0.5, 2), {}
    for limits in ((-1, 1), (None, 0.5), (-0.5, None)):
        yield aten.clamp.default, (X, *limits), {}
    yield aten.clamp.default, (I, -1, 2.5), {}
    yield aten.clamp.Tensor, (X, Y - 3, Y + 3), {}
    yield aten.clamp_min.default, (X, 0.5), {}
    yield aten.clamp_max.default, (X, 0.5), {}
    yield aten.where.self, (X > 0, X, Y), {}
    yield aten.where.ScalarOther, (X > 0, X, 1), {}
    for dtype in (torch.int32, torch.bool, torch.bfloat16):
        yield aten._to_copy.default, (X,), {"dtype": dtype}
    yield aten.copy.default, (X, Y[0]), {}
    yield aten.contiguous.default, (X,), {}


def gathers():
    rows = torch.arange(12.0).reshape(3, 4)
    for dim in (0, 1, -1):
        for shape in ((3, 4), (2, 4), (1, 3), (3, 1)):
            yield aten.gather.default, (rows, dim, torch.ones(shape).long()), {}


def reductions():
    for name in ("sum", "mean", "prod"):
        yield getattr(aten, name).default, (X,), {}
        yield getattr(aten, name).default, (J,), {"dtype": torch.float32}
    for dim, keepdim in ((0, False), (-1, True)):
        yield aten.sum.dim_IntList, (X, [dim], keepdim), {}
        yield aten.mean.dim, (X, [dim], keepdim), {}
        yield aten.prod.dim_int, (X, dim, keepdim), {"dtype": torch.float32}


CALLS = [*calls(), *gathers(), *reductions()]
REDUCED = {operator for operator, _, _ in reductions()}  # typed by an argument


PLANES = torch.arange(24.0).reshape(2, 3, 4)
ROWS_MASK = torch.tensor([True, False, True])
PLANE_MASK = PLANES[0] > 5


@pytest.mark.parametrize("accumulate", (False, True))
@pytest.mark.parametrize(
    ("indices", "source"),
    (
        ([PLANES > 7], torch.tensor(-1.0)),
        ([None, ROWS_MASK], torch.tensor(-1.0)),
        ([None, ROWS_MASK.to(torch.uint8)], torch.tensor(-1.0)),
        ([None, None, PLANE_MASK[2]], torch.tensor([-1.0])),
        ([None, ROWS_MASK], -torch.arange(4.0)),
        ([PLANE_MASK[:2, :3]], -torch.arange(4.0)),
        ([None, ROWS_MASK], -torch.arange(8.0).reshape(2, 1, 4)),
        ([None, PLANE_MASK], torch.tensor([[-1.0], [-2.0]])),
    ),
)
def test_a_masked_put_is_a_choice(indices, source, accumulate):
    operator = aten.index_put.default
    wanted = operator(
        PLANES,
        [i if i is None else i.bool() for i in indices],
        source,
        accumulate,
    )
    # Traced: what a mask holds is not known.
    result = jax.jit(
        lambda value, places, given: find_rule(operator)(
            value, places, given, accumulate
        )
    )(
        to_jax(PLANES),
        [i if i is None else to_jax(i) for i in indices],
        to_jax(source),
    )
    np.testing.assert_array_equal(np.asarray(result), to_numpy(wanted))


@pytest.mark.parametrize(
    ("indices", "source"),
    (
        ([None, ROWS_MASK], torch.ones(2, 4)),
        ([ROWS_MASK[:2], torch.tensor([0])], torch.tensor(1.0)),
    ),
)
def test_a_put_that_counts_a_masks_places_is_refused(indices, source):
    with pytest.raises(NotImplementedError, match="index_put with a mask"):
        find_rule(aten.index_put.default)(
            to_jax(PLANES),
            [i if i is None else to_jax(i) for i in indices],
            to_jax(source),
        )


def to_jax(value):
    if not isinstance(value, torch.Tensor):
        return value
    return jnp.asarray(np.asarray(value), jax_type(value.dtype))


def to_numpy(value):
    return np.asarray(value.float() if value.is_floating_point() else value)


@pytest.mark.parametrize(
    ("operator", "args", "named"),
    CALLS,
    ids=[f"{number}-{call[0]}" for number, call in enumerate(CALLS)],
)
def test_a_rule_gives_what_torch_gives(operator, args, named):
    wanted = operator(*args, **named)
    result = find_rule(operator)(*map(to_jax, args), **named)
    assert result.shape == tuple(wanted.shape)
    if operator in REDUCED:
        assert result.dtype == jax_type(wanted.dtype)
    result = np.asarray(result.astype(jax_type(wanted.dtype)))
    if wanted.is_floating_point():
        np.testing.assert_allclose(
            result.astype(np.float32), to_numpy(wanted), rtol=1e-5, atol=1e-6
        )
    else:
        np.testing.assert_array_equal(result, to_numpy(wanted))


@pytest.mark.parametrize("name", ("softmax", "log_softmax"))
def test_a_softmax_of_halves_may_be_that_of_floats(name):
    operator = getattr(aten, f"_{name}").default
    rounded = X.bfloat16().float()
    halves = to_jax(rounded).astype(jnp.bfloat16)
    result = find_rule(operator)(halves, -1, True)
    assert result.dtype == jnp.float32
    wanted = getattr(torch, name)(rounded, -1)
    np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-5)


def test_every_rule_of_elements_is_compared():
    called = {find_rule(operator) for operator, _, _ in CALLS}
    untested = {
        name
        for name, function in _RULES.items()
        if function.__module__ == elementwise.__name__
        and function not in called
    }
    assert untested == set()


def test_an_operator_of_another_library_has_no_rule_of_atens():
    library = torch.library.Library("meshwright_tests", "DEF")
    library.define("gelu(Tensor value) -> Tensor")
    own = torch.ops.meshwright_tests.gelu.default
    assert find_rule(own) is None
    assert find_rule(aten.uniform.default) is None
    assert find_rule(aten.mm.dtype) is None  # the type would be lost
    assert find_rule(torch.ops.meshwright.uniform.default) is not None


def test_an_operator_of_higher_order_is_named_as_missing():
    assert missing_rules([torch.ops.higher_order.cond]) == ["cond"]
