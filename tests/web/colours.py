"""How far colours lie apart, also for eyes that see two colours only.

Source: Machado, Oliveira and Fernandes, "A Physiologically-based Model for
Simulation of Color Vision Deficiency", 2009, at severity 1; CIE 1976 L*a*b*.
"""

from __future__ import annotations

import math

Rgb = tuple[float, float, float]  # 0 to 255

_SEEN = {
    "trichromat": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanope": ((0.152286, 1.052583, -0.204868),
                  (0.114503, 0.786281, 0.099216),
                  (-0.003882, -0.048116, 1.051998)),
    "deuteranope": ((0.367322, 0.860646, -0.227968),
                    (0.280085, 0.672501, 0.047413),
                    (-0.011820, 0.042940, 0.968881)),
    "tritanope": ((1.255528, -0.076749, -0.178779),
                  (-0.078411, 0.930809, 0.147602),
                  (0.004733, 0.691367, 0.303900)),
}
EYES = tuple(_SEEN)


def _linear(value: float) -> float:
    value /= 255
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _lab(linear: Rgb) -> Rgb:
    r, g, b = (min(max(it, 0.0), 1.0) for it in linear)
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089

    def bend(t: float) -> float:
        return t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116

    return (116 * bend(y) - 16, 500 * (bend(x) - bend(y)),
            200 * (bend(y) - bend(z)))


def distance(a: Rgb, b: Rgb, eye: str) -> float:
    """Delta E of two colours as an eye sees them; 2.3 is just noticeable."""
    seen = []
    for colour in (a, b):
        linear = [_linear(it) for it in colour]
        seen.append(_lab(tuple(
            sum(m * c for m, c in zip(row, linear)) for row in _SEEN[eye])))
    return math.dist(*seen)
