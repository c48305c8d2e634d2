"""Options of inpainting to requests, and what an earlier image keeps of its own."""

import pytest

from mezzotint.batch.job.settings import request_of
from mezzotint.errors import UsageError
from mezzotint.options import Options
from mezzotint.protocol import Cascade, GenerateRequest, ImageInput, Inpaint, ModelRef, Stage

INIT, MASK = ImageInput(path="a.png", sha256="0"), ImageInput(path="m.png", role="mask", sha256="1")
KNOWN = Inpaint(area="masked", padding=9, right=8)
STAGE = Stage(model=ModelRef(id="base"), width=64, height=96)
EARLIER = GenerateRequest(
    prompt="a barn", cascade=Cascade(stages=(STAGE,)), images=(INIT, MASK), inpaint=KNOWN, strength=0.7
)


def again(**said):
    return request_of(Options(**said), EARLIER)


# ---- requests


def test_nothing_said_asks_for_nothing():
    assert request_of(Options(prompt="a barn", init="a.png")).inpaint is None


def test_a_mask_goes_with_its_image():
    request = request_of(Options(prompt="a barn", init="a.png", mask="m.png"))
    assert request.images == (ImageInput(path="a.png"), ImageInput(path="m.png", role="mask"))
    assert request.inpaint is None  # the engine's own defaults


def test_every_option_has_its_place():
    said = Options(
        prompt="a barn",
        init="a.png",
        mask="m.png",
        inpaint_area="masked",
        inpaint_padding=5,
        inpaint_feather=0,
        inpaint_fill="noise",
        outpaint=(1, 2, 3, 4),
    )
    wanted = Inpaint(area="masked", padding=5, feather=0, fill="noise", left=1, top=2, right=3, bottom=4)
    assert request_of(said).inpaint == wanted


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"mask": "m.png"}, "--mask requires"),
        ({"outpaint": (0, 0, 8, 0)}, "--outpaint requires"),
        ({"inpaint_area": "masked"}, "--inpaint-area requires"),
        ({"init": "a.png", "inpaint_padding": 0}, "--inpaint-padding requires"),
        ({"init": "a.png", "inpaint_feather": 8}, "--inpaint-feather requires"),
        ({"init": "a.png", "inpaint_fill": "blur"}, "--inpaint-fill requires"),
    ],
)
def test_an_option_about_what_is_not_there_is_refused(said, message):
    with pytest.raises(UsageError, match=message):
        request_of(Options(prompt="a barn", **said))


# ---- an earlier image


def test_an_earlier_image_is_made_as_it_was():
    assert (again().images, again().inpaint, again().strength) == ((INIT, MASK), KNOWN, 0.7)


def test_what_is_said_changes_that_alone():
    assert again(inpaint_feather=3).inpaint == Inpaint(area="masked", padding=9, right=8, feather=3)
    assert again(mask="n.png").images == (INIT, ImageInput(path="n.png", role="mask"))
    assert again(outpaint=(4, 0, 0, 0)).inpaint == Inpaint(area="masked", padding=9, left=4)


def test_another_init_image_does_away_with_mask_and_margins():
    request = again(init="b.png")
    assert (request.images, request.inpaint) == ((ImageInput(path="b.png"),), None)
    request = again(init="b.png", mask="n.png", inpaint_padding=3)
    assert request.images == (ImageInput(path="b.png"), ImageInput(path="n.png", role="mask"))
    assert request.inpaint == Inpaint(padding=3)


def test_the_recorded_size_makes_room_for_that_of_the_grown_image():
    sizes = [
        [(stage.width, stage.height) for stage in again(**said).cascade.stages]
        for said in (
            {"outpaint": (0, 0, 64, 0), "inpaint_area": "whole"},
            {"outpaint": (0, 0, 64, 0), "inpaint_area": "whole", "size": (128, 96)},
            {"outpaint": (0, 0, 64, 0)},  # masked: the new parts are painted at that size
            {"inpaint_fill": "blur"},
        )
    ]
    assert sizes == [[(None, None)], [(128, 96)], [(64, 96)], [(64, 96)]]


# ---- reference images


def test_references_keep_their_order_and_follow_the_others():
    request = request_of(Options(prompt="a barn", reference=("b.png", "a.png"), init="i.png", mask="m.png"))
    assert [(image.role, image.path) for image in request.images] == [
        ("init", "i.png"),
        ("mask", "m.png"),
        ("reference", "b.png"),
        ("reference", "a.png"),
    ]


def test_other_references_leave_the_init_image_and_another_init_image_leaves_them():
    first = request_of(Options(prompt="a barn", reference=("a.png",), init="i.png"))
    others = request_of(Options(reference=("b.png", "c.png")), first)
    assert [image.path for image in others.images] == ["i.png", "b.png", "c.png"]
    assert [image.path for image in request_of(Options(init="j.png"), others).images] == ["j.png", "b.png", "c.png"]


def test_a_strength_is_of_an_init_image():
    with pytest.raises(UsageError, match="--strength requires an init image"):
        request_of(Options(prompt="a barn", reference=("a.png",), strength=0.5))
