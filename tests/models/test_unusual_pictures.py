"""Windows, patches and rays of unusual kinds, beside their definitions."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("optax", reason="optax is not installed")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from unusual import nerf, pictures, swin  # noqa: E402


def normal(seed, *dims):
    return jax.random.normal(jax.random.key(seed), dims)


def assert_close(value, expected):
    np.testing.assert_allclose(value, expected, rtol=2e-4, atol=1e-5)


def test_windows_come_back_and_offsets_tell_places_apart():
    x = normal(0, 2, 8, 8, 3)
    cut = swin.windows(x, 4)
    assert cut.shape == (8, 16, 3)
    assert_close(cut[1], x[0, :4, 4:].reshape(16, 3))
    assert_close(swin.whole(cut, 4, 2, 8), x)
    rows = swin.offsets(3)
    assert rows.shape == (9, 9)
    assert len(np.unique(rows)) == 25
    assert rows[0, 4] == rows[4, 8] != rows[4, 0]


def test_the_shift_mask_keeps_opposite_edges_apart():
    side, window, shift = 8, 4, 2
    places = np.stack(np.meshgrid(*[np.arange(side)] * 2, indexing="ij"), -1)
    rolled = np.roll(places, (-shift, -shift), axis=(0, 1))
    cut = np.asarray(swin.windows(jnp.asarray(rolled[None]), window))
    apart = np.abs(cut[:, :, None] - cut[:, None]).max(-1)
    mask = swin.shift_mask(side, window, shift)
    np.testing.assert_array_equal(mask == 0, apart < window)


def test_a_ray_ends_at_a_wall():
    density = jnp.array([[0.0, 1e3, 5.0]])
    colour = jnp.eye(3)[None]
    depth = jnp.array([[1.0, 2.0, 3.0]])
    assert_close(nerf.render(density, colour, depth), [[0.0, 1.0, 0.0]])


def test_patches_are_squares_row_by_row():
    image = normal(0, 1, 4, 6, 2)
    cut = pictures.patches(image, 2)
    assert cut.shape == (1, 6, 8)
    assert_close(cut[0, 4], image[0, 2:4, 2:4].reshape(8))
