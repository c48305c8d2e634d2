"""Regional prompts of the Create page."""

import pytest

from mezzotint.values.regions import RegionRef
from mezzotint_app.viewmodel.create.regions import MASK, PARTS, box_of, box_text, next_region, part_of, regions_in_use

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.mark.parametrize("part", PARTS)
def test_usual_parts_are_boxes_and_are_found_again(part):
    assert part_of(RegionRef(box=box_of(box_text(PARTS[part])), prompt="")) == part


def test_new_regions_are_in_parts_that_have_none():
    made = ()
    for _ in range(len(PARTS) + 1):
        made = (*made, next_region(made))
    assert len({region.box for region in made}) == len(PARTS)
    assert regions_in_use(made) == ()
    assert regions_in_use((RegionRef(box=PARTS["top"], prompt="a"), *made)) == (
        RegionRef(box=PARTS["top"], prompt="a"),
    )


def test_other_boxes_are_typed():
    assert (
        box_of(" 0.1,0,.5, 1") == (0.1, 0.0, 0.5, 1.0) and part_of(RegionRef(box=(0.1, 0.0, 0.5, 1.0), prompt="")) == ""
    )
    assert part_of(RegionRef(mask="/m.png", prompt="")) == MASK
    with pytest.raises(ValueError, match="not a box"):
        box_of("0,0,2,1")
