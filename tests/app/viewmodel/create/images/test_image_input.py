"""The starting image and its mask reach the request exactly as they were set, and come back from one."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtGui import QColor, QImage  # noqa: E402

from mezzotint import paths  # noqa: E402
from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint  # noqa: E402
from mezzotint_app.viewmodel.create.images.image_input import ImageInputModel, InpaintSettings  # noqa: E402
from mezzotint_app.viewmodel.create.images.outpaint_padding import LARGEST_SIDE, OutpaintPadding  # noqa: E402
from mezzotint_app.viewmodel.pixels import LoadedImage  # noqa: E402


@pytest.fixture
def model(service, inline):
    return ImageInputModel(service, inline)


def loaded(model, width=800, height=600):
    model._loaded(LoadedImage(image=QImage(80, 60, QImage.Format.Format_RGB32), width=width, height=height))


def mask(value=255, width=80, height=60):
    image = QImage(width, height, QImage.Format.Format_Grayscale8)
    image.fill(value)
    return image


def use(model, how=None, grown=None, *, masked=True):
    """As settings that come from the canvas or from an image."""
    how, grown, known = how or InpaintSettings(), grown or OutpaintPadding(), model.image()
    mask = (ImageInput(path="m.png", role="mask", sha256="00"),) if masked else ()
    inpaint = Inpaint(
        area=how.area, padding=how.padding, feather=how.feather, fill=how.fill,
        left=grown.left, top=grown.top, right=grown.right, bottom=grown.bottom,
    )  # fmt: skip
    images = (ImageInput(path=model.path()), *mask)
    chosen = None if model.strength() == model.suggested_strength() else model.strength()
    model.apply(
        GenerateRequest(prompt="", images=images, strength=chosen, inpaint=inpaint if masked or grown else None)
    )
    if known is not None:
        loaded(model, known.width, known.height)


def test_without_an_image_nothing_is_said(model):
    assert (model.inputs(), model.strength(), model.inpaint()) == ((), None, None)
    request = GenerateRequest(prompt="x")
    assert model.with_inputs(request) == request


def test_an_image_is_read_by_the_librarian_and_named_in_the_request(model, service):
    model.set_image(Path("/a/b.png"))
    assert service.last("pixels").params.path == str(Path("/a/b.png"))
    assert model.is_loading()
    assert model.inputs() == (ImageInput(path=str(Path("/a/b.png"))),)
    assert model.strength() == 0.6
    loaded(model)
    assert not model.is_loading()
    assert model.extended_size() == (800, 600)


def test_an_unreadable_image_says_why_and_stays_named(model, service):
    model.set_image("/a/b.txt")
    service.fail("image_refused", "b.txt is text")
    assert model.problem() == "b.txt is text"
    assert model.inputs(), "a request that leaves it out would make another image than the one asked for"
    model.set_image("/a/c.png")
    assert model.problem() == ""


def test_pixels_from_the_clipboard_become_a_file_named_after_itself(model, service):
    image = QImage(4, 3, QImage.Format.Format_RGB32)
    image.fill(QColor("#aa5500"))
    model.paste(image)
    (init,) = model.inputs()
    assert Path(init.path).parent == paths.state_folder() / "pasted"
    assert Path(init.path).stem == init.sha256
    assert QImage(init.path).pixelColor(0, 0) == QColor("#aa5500")


def test_an_empty_clipboard_and_a_full_disk_are_told(model, monkeypatch):
    told = []
    model.message.connect(told.append)
    model.paste(QImage())
    (paths.state_folder()).parent.mkdir(parents=True, exist_ok=True)
    paths.state_folder().write_bytes(b"a file where the folder should be")
    model.paste(mask())
    assert len(told) == 2
    assert "cannot write" in told[1]
    assert model.path() == ""


def test_what_was_chosen_after_a_paste_stays(model, inline):
    inline.held = True
    model.paste(mask())
    model.set_image("/a/newer.png")
    inline.go()
    assert model.path() == "/a/newer.png"


@pytest.mark.parametrize(("asked", "kept"), [(0.123, 0.12), (-3, 0.0), (7, 1.0), (None, 0.6)])
def test_strength_is_kept_within_its_bounds(model, asked, kept):
    model.set_image("x")
    model.set_strength(asked)
    assert model.strength() == kept


def test_what_is_new_is_made_anew_altogether_unless_somebody_chose(model):
    model.set_image("x")
    loaded(model)
    use(model, InpaintSettings(fill="blur"))
    assert model.strength() == 1.0
    use(model, InpaintSettings(fill="original"))
    assert model.strength() == 0.6
    use(model, grown=OutpaintPadding(left=8), masked=False)
    assert model.strength() == 1.0
    model.set_strength(0.3)
    assert model.strength() == 0.3


def test_the_mask_of_one_image_is_not_put_on_another(model):
    model.set_image("x")
    use(model, InpaintSettings(area="masked", padding=64, feather=4, fill="noise"), OutpaintPadding(right=16))
    assert [one.role for one in model.inputs()] == ["init", "mask"]
    assert model.inpaint() == Inpaint(area="masked", padding=64, feather=4, fill="noise", right=16)
    model.set_image("y")
    assert (model.mask(), model.outpaint_padding()) == (None, OutpaintPadding())


def test_removing_the_mask_leaves_the_image(model):
    model.set_image("x")
    loaded(model)
    use(model, grown=OutpaintPadding(left=8))
    model.remove_mask()
    assert (len(model.inputs()), model.inpaint(), model.path()) == (1, None, "x")
    model.clear()
    assert model.inputs() == ()


# ---- sizes


def test_the_result_has_the_size_that_is_asked_for_and_leaves_out_what_does_not_fit(model):
    model.set_image("x")
    assert model.cropped() is None
    loaded(model, 1000, 500)
    model.set_target(512, 512)
    assert model.result_size() == (512, 512)
    assert model.cropped() == ("sides", 50)
    model.set_target(500, 1000)
    assert model.cropped() == ("sides", 75)
    model.set_target(2000, 500)
    assert model.cropped() == ("ends", 50)
    model.set_target(1024, 512)
    assert model.cropped() is None
    model.set_target(None, None)
    assert model.result_size() is None


def test_a_growing_image_decides_the_size_itself(model):
    model.set_image("x")
    loaded(model, 512, 512)
    model.set_target(1024, 1024)
    assert not model.decides_size()
    use(model, grown=OutpaintPadding(left=64, bottom=32), masked=False)
    assert model.decides_size()
    assert model.result_size() == (576, 544)
    use(model, InpaintSettings(area="masked"), OutpaintPadding(left=64))
    assert not model.decides_size(), "the part is worked on at the size that is asked for"
    assert model.keeps_size()
    assert model.result_size() == (576, 512)


def test_its_own_size_can_be_wanted(model):
    wanted = []
    model.size_wanted.connect(lambda width, height: wanted.append((width, height)))
    model.request_image_size()
    model.set_image("x")
    loaded(model, 640, 480)
    model.request_image_size()
    assert wanted == [(640, 480)]


# ---- requests come and go


paintings = st.builds(
    InpaintSettings,
    area=st.sampled_from(["whole", "masked"]),
    padding=st.integers(0, 4096),
    feather=st.integers(0, 256),
    fill=st.sampled_from(["original", "blur", "noise"]),
)
growths = st.builds(OutpaintPadding, **dict.fromkeys(("left", "top", "right", "bottom"), st.integers(0, LARGEST_SIDE)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paintings, growths, st.one_of(st.none(), st.floats(0, 1)), st.booleans())
def test_what_a_request_says_comes_back(service, inline, inpaint_settings, outpaint_padding, strength, masked):
    model = ImageInputModel(service, inline)
    model.set_image("x.png")
    model.set_strength(strength)
    use(model, inpaint_settings, outpaint_padding, masked=masked)
    request = model.with_inputs(GenerateRequest(prompt="y"))
    other = ImageInputModel(service, inline)
    other.apply(request)
    assert other.with_inputs(GenerateRequest(prompt="y")) == request


def test_a_request_without_images_clears(model):
    model.set_image("x")
    model.apply(GenerateRequest(prompt="y"))
    assert model.path() == ""


def test_what_a_stranger_asks_for_is_bounded(model):
    images = (ImageInput(path="x"), ImageInput(path="m", role="mask", sha256="00"))
    model.apply(GenerateRequest(prompt="y", images=images, inpaint=Inpaint(left=-10, top=10**15)))
    assert model.outpaint_padding() == OutpaintPadding(top=LARGEST_SIDE)
    assert model.inputs() == images


def test_each_change_is_told(model, service):
    told = []
    model.changed.connect(lambda: told.append(None))
    model.set_image("x")
    loaded(model)
    model.set_strength(0.5)
    use(model)
    model.remove_mask()
    model.set_target(5, 5)
    model.clear()
    assert len(told) == 9
    model.set_target(5, 5)
    model.remove_mask()
    assert len(told) == 9


def test_the_request_keeps_everything_else(model):
    model.set_image("x")
    request = GenerateRequest(prompt="y", seed=5, count=3)
    assert replace(model.with_inputs(request), images=(), strength=None) == request


def test_an_image_that_could_not_be_read_is_read_when_the_librarian_is_back(model, service):
    model.retry()
    assert not service.asked
    model.set_image("/a.png")
    model.retry()
    assert len(service.asked) == 1
    service.fail("gone", "it ended")
    assert model.problem() == "it ended"
    model.retry()
    assert len(service.asked) == 2
    assert model.problem() == ""
    assert model.is_loading()


@given(st.floats(allow_nan=False), st.integers(), st.integers())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_wild_numbers_of_a_request_stay_within_what_can_be_shown(model, strength, padding, feather):
    inpaint = Inpaint(padding=padding, feather=feather, left=64)
    model.apply(GenerateRequest(prompt="x", images=(ImageInput(path="/a.png"),), strength=strength, inpaint=inpaint))
    assert 0 <= model.strength() <= 1
    assert 0 <= model.inpaint().padding <= 4096
    assert 0 <= model.inpaint().feather <= 256
