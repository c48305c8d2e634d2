"""Skeletons in OpenPose's colours."""

import numpy as np
import pytest

from mezzotint.images.control.skeleton import colour, drawn_skeletons

# COCO's joints of someone who faces the viewer: the right side is on the left.
_PERSON = np.array(
    [
        *[(256, 60), (270, 50), (242, 50), (290, 60), (222, 60)],
        *[(320, 120), (192, 120), (360, 200), (152, 200), (380, 280), (132, 280)],
        *[(290, 290), (222, 290), (300, 390), (212, 390), (300, 480), (212, 480)],
    ],
    np.float32,
)
_ALL = np.ones((1, 17), np.float32)


def _drawn(points=_PERSON, scores=_ALL, size=(512, 512)):
    return np.asarray(drawn_skeletons(size, points[None], scores))


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ((256, 60), (255, 0, 0)),  # nose
        ((256, 120), (255, 85, 0)),  # neck, between the shoulders
        ((192, 120), (255, 170, 0)),  # right shoulder
        ((380, 280), (0, 255, 85)),  # left wrist
        ((212, 480), (0, 170, 255)),  # right ankle
        ((300, 480), (85, 0, 255)),  # left ankle
        ((290, 60), (255, 0, 85)),  # left ear
        ((224, 120), (153, 0, 0)),  # from the neck to the right shoulder
        ((340, 160), (102, 153, 0)),  # left upper arm
        ((217, 340), (0, 153, 51)),  # right thigh
        ((256, 90), (0, 0, 153)),  # from the neck to the nose
    ],
)
def test_joints_and_limbs_have_the_colours_that_controlnets_know(place, expected):
    assert tuple(_drawn()[place[1], place[0]]) == expected


def test_a_joint_that_is_not_found_takes_its_limbs_along():
    scores = _ALL.copy()
    scores[0, 5] = 0.2  # the left shoulder
    made = _drawn(scores=scores)
    assert not made[120, 256].any() and not made[160, 340].any()  # no neck either
    assert made[240, 370].any()
    assert not np.asarray(drawn_skeletons((20, 20), np.zeros((0, 17, 2)), np.zeros((0, 17)))).any()


def test_lines_are_as_wide_at_every_size():
    drawn = [_drawn(_PERSON * scale, size=(512 * scale, 512 * scale))[435 * scale] for scale in (1, 2)]
    widths = [np.count_nonzero(row.any(-1)) for row in drawn]
    assert 12 <= widths[0] <= 18 and abs(widths[1] - 2 * widths[0]) <= 4


def test_there_are_eighteen_hues():
    assert len({colour(number) for number in range(18)}) == 18
