"""Skeletons of people as OpenPose draws them (arXiv 1812.08008), in the colours that ControlNets were trained with.

18 joints, of which the neck is between the shoulders, each in a hue of its own; limbs are ellipses of the hues in the
same order, at 60 % of the brightness (lllyasviel's ControlNet, arXiv 2302.05543).
"""

import colorsys
import math

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

Numbers = npt.NDArray[np.floating]
Point = tuple[float, float]

LEAST_SCORE = 0.3  # of a joint that is drawn
_SIDE, _RADIUS = 512, 4  # pixels of an image's shorter side, and of joints and half a limb's width there
_DIM = 0.6
_CORNERS = 24  # of an ellipse
_NECK = 1
# OpenPose's joints by COCO's numbers: nose, neck, right arm, left arm, right leg, left leg, right and left eye and ear.
_FROM_COCO = (0, None, 6, 8, 10, 5, 7, 9, 12, 14, 16, 11, 13, 15, 2, 1, 4, 3)
_LEFT_SHOULDER, _RIGHT_SHOULDER = 5, 6  # of COCO
_LIMBS = (
    *((1, 2), (1, 5), (2, 3), (3, 4), (5, 6), (6, 7), (1, 8), (8, 9), (9, 10)),
    *((1, 11), (11, 12), (12, 13), (1, 0), (0, 14), (14, 16), (0, 15), (15, 17)),
)


def colour(number: int) -> tuple[int, int, int]:
    """The colour of a joint: 18 hues around the circle."""
    red, green, blue = colorsys.hsv_to_rgb(number / len(_FROM_COCO), 1, 1)
    return round(red * 255), round(green * 255), round(blue * 255)


def drawn_skeletons(size: tuple[int, int], points: Numbers, scores: Numbers) -> Image.Image:
    """An image "RGB" of people on black; `points` `(n, 17, 2)`: COCO's joints in pixels, `scores` `(n, 17)`."""
    image = Image.new("RGB", size)
    draw = ImageDraw.Draw(image)
    radius = max(1.0, _RADIUS * min(size) / _SIDE)
    people = [_joints(person, found) for person, found in zip(points, scores, strict=True)]
    for joints in people:
        for number, (start, end) in enumerate(_LIMBS):
            first, second = joints[start], joints[end]
            if first is not None and second is not None:
                draw.polygon(_ellipse(first, second, radius), fill=tuple(int(c * _DIM) for c in colour(number)))
    for joints in people:
        for number, joint in enumerate(joints):
            if joint is not None:
                draw.circle(joint, radius, fill=colour(number))
    return image


def _joints(points: Numbers, scores: Numbers) -> list[Point | None]:
    """OpenPose's joints of a person; None for those that are not found."""
    found = [
        None if number is None or scores[number] < LEAST_SCORE else (float(points[number][0]), float(points[number][1]))
        for number in _FROM_COCO
    ]
    if min(scores[_LEFT_SHOULDER], scores[_RIGHT_SHOULDER]) >= LEAST_SCORE:
        across, down = (points[_LEFT_SHOULDER] + points[_RIGHT_SHOULDER]) / 2
        found[_NECK] = (float(across), float(down))
    return found


def _ellipse(start: Point, end: Point, radius: float) -> list[Point]:
    """Corners of an ellipse from one point to another, as thick as two radii."""
    middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    along = (end[0] - start[0]) / 2, (end[1] - start[1]) / 2
    half = math.hypot(*along) or 1.0
    aside = -along[1] / half * radius, along[0] / half * radius
    turns = (2 * math.pi * corner / _CORNERS for corner in range(_CORNERS))
    return [
        (
            middle[0] + math.cos(turn) * along[0] + math.sin(turn) * aside[0],
            middle[1] + math.cos(turn) * along[1] + math.sin(turn) * aside[1],
        )
        for turn in turns
    ]
