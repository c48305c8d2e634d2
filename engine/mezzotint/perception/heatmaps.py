"""Where the maxima of heatmaps are, between their pixels (Zhang et al., arXiv 1910.06278)."""

import numpy as np
import numpy.typing as npt

_SIGMA, _RADIUS = 0.8, 5  # pixels, of the blur of heatmaps before their maxima are refined
_LEAST, _MOST = 1e-3, 50.0  # of their values, before the logarithm

Numbers = npt.NDArray[np.float32]


def peaks(heatmaps: Numbers) -> tuple[Numbers, Numbers]:
    """The place `(n, 2)`, across and down in pixels, and the height `(n,)` of the maximum of each `(n, h, w)`.

    Around a maximum the logarithm of a Gaussian is a parabola, whose own maximum is one step of Newton's method away.
    """
    count, width = len(heatmaps), heatmaps.shape[-1]
    flat = heatmaps.reshape(count, -1)
    rows, columns = np.divmod(flat.argmax(1), width)
    logs = np.log(np.clip(_smooth(heatmaps), _LEAST, _MOST))
    logs = np.pad(logs, ((0, 0), (1, 1), (1, 1)), mode="edge")
    each = np.arange(count)

    def at(right: int, down: int) -> npt.NDArray[np.float64]:
        values: npt.NDArray[np.float64] = logs[each, rows + 1 + down, columns + 1 + right]
        return values

    middle = at(0, 0)
    slope = np.stack([at(1, 0) - at(-1, 0), at(0, 1) - at(0, -1)], axis=-1) / 2
    xx, yy = at(1, 0) - 2 * middle + at(-1, 0), at(0, 1) - 2 * middle + at(0, -1)
    xy = (at(1, 1) - at(1, 0) - at(0, 1) + 2 * middle - at(-1, 0) - at(0, -1) + at(-1, -1)) / 2
    bends = np.stack([np.stack([xx, xy], -1), np.stack([xy, yy], -1)], -2) + np.finfo(np.float32).eps * np.eye(2)
    steps = np.linalg.solve(bends, slope[..., None])[..., 0]
    places = np.stack([columns, rows], axis=-1) - np.clip(steps, -1, 1)
    return places.astype(np.float32), flat.max(1)


def _smooth(values: Numbers) -> npt.NDArray[np.float64]:
    weights = np.exp(-0.5 * (np.arange(-_RADIUS, _RADIUS + 1) / _SIGMA) ** 2)
    weights /= weights.sum()
    smooth = values.astype(np.float64)
    for axis in (1, 2):
        width = [(_RADIUS, _RADIUS) if each == axis else (0, 0) for each in range(3)]
        padded = np.moveaxis(np.pad(smooth, width, mode="symmetric"), axis, 0)
        parts = (weight * padded[place : place + values.shape[axis]] for place, weight in enumerate(weights))
        smooth = np.moveaxis(np.sum(list(parts), axis=0), 0, axis)
    return smooth
