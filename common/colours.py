"""Colours as #rrggbb: how well one is read on another, and what a page needs of an accent in its two themes.

Contrast is that of WCAG 2.2 (1 to 21); at 4.5 a text can be read. The grounds are those of static/css/tokens.css, as a
test compares.
"""

import colorsys
from collections.abc import Iterable
from functools import cache

READABLE_CONTRAST = 4.5
WHITE, BLACK = "#ffffff", "#000000"
# of surfaces that hold links and labels in the accent's colour, the one nearest to it
LIGHT_GROUND, DARK_GROUND, DARK_SURFACE = "#f0ede5", "#222824", "#191e1b"
_STEPS = 20


def contrast(one: str, other: str) -> float:
    """Between two colours, whichever is the lighter."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@cache
def css_variables_of(accent: str) -> dict[str, tuple[str, str]]:
    """CSS variable (see static/css/tokens.css) → (light, dark) value, for an accent that can be read on light."""
    light_soft, dark_soft = _mixed(accent, WHITE, 0.92), _mixed(accent, DARK_SURFACE, 0.75)
    dark = _lightened_until(accent, DARK_GROUND, 7)
    dark_ink = _lightened_until(_mixed(dark, WHITE, 0.3), dark_soft, 9)
    return {
        "stay": (accent, dark),
        "on-stay": (WHITE, _mixed(accent, BLACK, 0.8)),
        "stay-soft": (light_soft, dark_soft),
        "stay-ink": (_mixed(accent, BLACK, 0.25), dark_ink),
        "stay-line": (_mixed(accent, WHITE, 0.65), _mixed(dark, DARK_SURFACE, 0.6)),
        "focus": (accent, dark_ink),
    }


def _lightened_until(colour: str, ground: str, least: float) -> str:
    """`colour` with as much more light as gives it this contrast with a dark `ground`; its hue stays."""
    hue, light, saturation = colorsys.rgb_to_hls(*(octet / 255 for octet in _octets(colour)))
    lighter = (
        _written(octet * 255 for octet in colorsys.hls_to_rgb(hue, light + (1 - light) * step / _STEPS, saturation))
        for step in range(_STEPS)
    )
    return next((one for one in lighter if contrast(one, ground) >= least), WHITE)


def _mixed(colour: str, other: str, share: float) -> str:
    """`colour` with this share, 0 to 1, of `other`."""
    pairs = zip(_octets(colour), _octets(other), strict=True)
    return _written(one + (another - one) * share for one, another in pairs)


def _luminance(colour: str) -> float:
    parts = [octet / 255 for octet in _octets(colour)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _octets(colour: str) -> bytes:
    return bytes.fromhex(colour[1:])


def _written(octets: Iterable[float]) -> str:
    return "#" + "".join(f"{round(octet):02x}" for octet in octets)
