"""What is in the frame decides what is asked for; candidates come back to the frame they were made for."""

from dataclasses import replace

import pytest
from create_page import generated, kit_of
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QImage, QPainterPath

from mezzotint.control_protocol import ControlRef
from mezzotint.protocol import Cascade, GenerateRequest, ImageInput, Inpaint, ModelRef, Stage, Transition
from mezzotint.values.regions import MAX_REGIONS, check_region
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.canvas.canvas import CanvasModel
from mezzotint_app.viewmodel.canvas.generation import InpaintChoice, request_for
from mezzotint_app.viewmodel.create.controls import ControlChoice
from mezzotint_app.viewmodel.create.state import CreateState, own_files

FRAME = QRect(64, 0, 128, 64)


def square(width, height, colour="red"):
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    return image


class Told(CanvasModel):
    def __init__(self, *parts):
        super().__init__(*parts)
        self.said = []
        self.message.connect(self.said.append)


@pytest.fixture
def kit(tmp_path, qapp, monkeypatch):
    monkeypatch.setenv("MEZZOTINT_STATE", str(tmp_path / "state"))
    yield from kit_of(tmp_path)


@pytest.fixture
def canvas(kit):
    kit.write()
    model = Told(kit.create, kit.queue, kit.runner, kit.librarian, kit.pool)
    model.document.set_frame(FRAME)
    return model


def ask(canvas, base=None):
    generation = canvas.generation
    return request_for(base or canvas.generation.create.request(), generation._material(), generation.choice())


def loaded(one):
    image = QImage(one.path)
    return image.width(), image.height()


def test_an_empty_frame_is_text_to_image_of_its_size(canvas):
    request = ask(canvas)
    assert request.images == () and request.inpaint is None and request.strength is None
    assert (request.cascade.stages[0].width, request.cascade.stages[0].height) == (128, 64)
    assert request.prompt == canvas.generation.create.prompts.prompt()


def test_a_covered_frame_is_image_to_image_and_a_mask_makes_it_inpainting(canvas):
    canvas.document.add_layer("image", "", square(300, 300))
    request = ask(canvas)
    assert [one.role for one in request.images] == ["init"]
    assert loaded(request.images[0]) == (128, 64) and request.strength == 0.6 and request.inpaint is None
    canvas.document.add_layer("mask", "", square(30, 30, "white"), (64, 0))
    canvas.generation.choose(InpaintChoice(feather=3))
    request = ask(canvas)
    assert [one.role for one in request.images] == ["init", "mask"]
    assert request.inpaint == Inpaint(feather=3) and request.strength == 0.6
    mask = QImage(request.images[1].path)
    assert [mask.pixelColor(x, 5).red() for x in (0, 29, 30, 120)] == [255, 255, 0, 0]


def test_a_frame_beyond_the_picture_is_outpainting(canvas):
    canvas.document.add_layer("image", "", square(100, 300))
    request = ask(canvas)
    mask = QImage(request.images[1].path)
    grown = [mask.pixelColor(x, 5).red() for x in (0, 27, 28, 127)]
    assert grown == [0, 0, 255, 255], "the soft edge lies within the picture, which ends at 36"
    assert request.inpaint.fill == "blur" and request.strength == 1.0
    canvas.generation.choose(InpaintChoice(strength=0.8, fill="noise"))
    assert (ask(canvas).inpaint.fill, ask(canvas).strength) == ("noise", 0.8)


def test_control_and_reference_layers_become_images(canvas, monkeypatch):
    canvas.document.add_layer("control", "", square(200, 200))
    canvas.document.add_layer("reference", "", square(70, 50))
    base = GenerateRequest(prompt="a", cascade=Cascade(stages=(Stage(),)), controls=(ControlRef(image="x", model="c"),))
    assert ask(canvas, base).controls[0].image.endswith(".png") and ask(canvas, base).images == ()
    canvas.generation.choose(
        replace(canvas.generation.choice(), control=ControlChoice(image="", model="own", weight=0.5))
    )
    own, other = ask(canvas, base).controls
    assert (own.model, own.weight, other) == ("own", 0.5, base.controls[0]) and own.image.endswith(".png")
    canvas.generation.choose(replace(canvas.generation.choice(), control=ControlChoice(image="", on=False)))
    assert ask(canvas, base).controls == base.controls
    info = canvas.generation.create.chosen.info()
    assert "takes no reference images" in canvas.generation.note()
    monkeypatch.setattr(type(canvas.generation.create.chosen), "info", lambda _self: replace(info, references=2))
    images = ask(canvas).images
    assert [one.role for one in images] == ["reference"] and loaded(images[0]) == (70, 50)
    assert canvas.generation.note() == ""


def test_a_control_layer_needs_a_control_net(canvas):
    canvas.new_layer("control")
    assert canvas.tools.colour() == QColor("white")
    before = canvas.generation.problem()
    canvas.document.draw_image(square(30, 30), FRAME.topLeft())
    assert "Choose a ControlNet" in canvas.generation.problem() and canvas.generation.has_control()
    canvas.generation.choose(replace(canvas.generation.choice(), control=ControlChoice(image="", model="own")))
    assert canvas.generation.problem() in (before, "")


def test_a_mask_layer_from_what_is_selected(canvas):
    canvas.mask_selection()
    assert len(canvas.document.layers()) == 1
    path = QPainterPath()
    path.addRect(64, 0, 32, 64)
    canvas.document.select(path)
    canvas.mask_selection()
    layer = canvas.document.active()
    assert (layer.kind, canvas.document.content_of(layer.id)) == ("mask", QRect(64, 0, 32, 64))


def test_only_the_masked_part_is_made_at_the_size_of_create(canvas):
    canvas.document.add_layer("image", "", square(300, 300))
    canvas.generation.choose(replace(canvas.generation.choice(), area="masked", padding=16))
    assert ask(canvas).inpaint is None and ask(canvas).cascade.stages[0].width == 128
    canvas.document.add_layer("mask", "", square(20, 20), (80, 10))
    request = ask(canvas)
    assert (request.inpaint.area, request.inpaint.padding) == ("masked", 16)
    assert request.cascade.stages[0].width == canvas.generation.create.request().cascade.stages[0].width


@pytest.fixture
def reads(canvas, monkeypatch):
    """Files are read at once."""

    def load(path, _side, then, failed, slot=""):
        image = QImage(path)
        then(image) if not image.isNull() else failed(Failure(kind="failed", message=f"no image: {path}"))

    monkeypatch.setattr(canvas._pixels, "load", load)


def test_the_init_image_comes_with_its_mask_and_goes_back(canvas, reads, tmp_path):
    images, told = canvas.generation.create.images, []
    canvas.generation.handed_over.connect(lambda: told.append("handed over"))
    square(128, 64, "teal").save(str(tmp_path / "init.png"))
    mask = QImage(64, 32, QImage.Format.Format_Grayscale8)
    mask.fill(0)
    mask.setPixelColor(32, 16, QColor("white"))
    mask.save(str(tmp_path / "mask.png"))
    inputs = tuple(ImageInput(path=str(tmp_path / f"{role}.png"), role=role) for role in ("init", "mask"))
    images.apply(
        GenerateRequest(prompt="", images=inputs, strength=0.4, inpaint=Inpaint(feather=3, fill="noise", right=32))
    )
    canvas.open_init_image()
    assert [one.kind for one in canvas.document.layers()] == ["image", "mask"] and canvas.is_saved()
    assert canvas.document.frame() == QRect(0, 0, 160, 64) and canvas.tools.tool() == "brush"
    masked = canvas.document.content_of(canvas.document.active().id)
    assert masked.contains(QRect(65, 33, 1, 1)) and masked.width() < 10
    choice = canvas.generation.choice()
    assert (choice.strength, choice.fill, choice.feather) == (0.4, "noise", 3)
    canvas.generation.hand_over()
    assert told == ["handed over"] and images.path() != inputs[0].path and loaded(images.mask()) == (160, 64)
    assert canvas.generation.create.chosen.size() == (160, 64)
    assert (images.inpaint().fill, images.strength()) == ("noise", 0.4)


def test_an_init_image_that_cannot_be_read_and_a_frame_without_picture(canvas, reads):
    canvas.generation.create.images.set_image("/missing.png")
    canvas.open_init_image()
    assert canvas.said == ["no image: /missing.png"] and not canvas.is_busy()
    canvas.generation.hand_over()
    assert "no picture in the frame" in canvas.said[-1]
    assert canvas.generation.create.images.path() == "/missing.png"


def test_passes_that_enlarge_are_left_out_and_a_refiner_stays(canvas):
    first, refiner = Stage(until=0.8), Stage(model=ModelRef(id="refiner"))
    plain = Cascade(stages=(first, refiner), transitions=(Transition(),))
    assert len(ask(canvas, GenerateRequest(prompt="a", cascade=plain)).cascade.stages) == 2
    large = Cascade(stages=(Stage(), first, refiner), transitions=(Transition(scale=2.0), Transition()))
    assert ask(canvas, GenerateRequest(prompt="a", cascade=large)).cascade.stages == (Stage(width=128, height=64),)


def start(canvas, kit):
    entries = []
    canvas.generation.queued.connect(lambda entry, _frame: entries.append(entry))
    assert canvas.generation.generate()
    return entries[0]


def test_candidates_are_stepped_through_accepted_and_discarded(canvas, kit, monkeypatch):
    canvas.document.add_layer("image", "", square(300, 300))
    canvas.document.add_layer("reference", "", square(300, 300))
    entry = start(canvas, kit)
    store = kit.queue._opened()
    task = store.entry(entry).tasks[0]
    assert [one.role for one in task.request.images] == ["init"]
    waiting = []
    monkeypatch.setattr(canvas._pixels, "load", lambda *_words, slot: waiting.append(_words[2:]))
    kit.runner.current = task
    assert canvas.candidates.running_frame() == FRAME
    for seed, shade in ((1, "green"), (2, "blue"), (3, "white")):
        kit.runner.saved.emit(task, generated(f"/out/{seed}.png", seed))
        waiting.pop()[0](square(256, 128, shade))
    found = canvas.candidates
    assert [one.seed for one in found.all()] == [1, 2, 3] and found.current().image.width() == 128
    assert canvas.overlay()[1] == FRAME
    found.show_before(True)
    assert canvas.overlay() is None
    found.show_before(False)
    canvas.document.draw_image(square(9, 9), QPoint(900, 0))
    assert canvas.overlay() is not None
    canvas.document.draw_image(square(9, 9), FRAME.topLeft())
    assert canvas.overlay() is None, "what is painted in its frame is seen"
    found.discard()
    found.step(-1)
    assert found.current().seed == 1
    canvas.accept()
    assert [one.kind for one in canvas.document.layers()][-2:] == ["reference", "image"], "the reference hides nothing"
    assert found.all() == () and canvas.document.colour_at(FRAME.center()) == QColor("green")
    canvas.document.undo()
    assert canvas.document.colour_at(FRAME.center()) == QColor("red")
    kit.runner.ended.emit(task, None, Failure(kind="failed", message="out of paint"))
    kit.runner.saved.emit(task, generated("/out/4.png", 4))
    waiting.pop()[1](Failure(kind="failed", message="not there"))
    assert canvas.said == ["out of paint", "not there"]


def test_what_cannot_be_generated_is_said(canvas, kit, monkeypatch):
    canvas.generation.create.chosen.set_model("broken")
    assert not canvas.generation.generate() and "damaged" in canvas.said[-1]
    canvas.generation.create.chosen.set_model("base")
    monkeypatch.setattr(kit.queue, "change", lambda work, then, failed: failed(OSError("disk full")))
    canvas.generation.generate()
    assert "disk full" in canvas.said[-1] and not canvas.generation.is_preparing()


def test_a_mask_layer_becomes_a_regional_prompt(canvas):
    chosen = canvas.generation.create.chosen
    assert not canvas.generation.can_make_region() and "mask layer" in canvas.said[-1]
    canvas.document.add_layer("mask", "", square(32, 64), (FRAME.x() + 96, 0))
    canvas.generation.make_region("  ")
    assert chosen.settings().regions == ()
    canvas.generation.make_region("a red boat ")
    (region,) = chosen.settings().regions
    assert region.prompt == "a red boat" and not canvas.document.active().visible
    mask = QImage(region.mask)
    assert (mask.width(), mask.height()) == (128, 64)
    assert (mask.pixelColor(95, 9).red(), mask.pixelColor(96, 9).red()) == (0, 255)
    assert region.mask in own_files(CreateState(per_model={"m": chosen.settings()}))
    check_region(region)
    chosen.change(regions=(region,) * MAX_REGIONS)
    assert not canvas.generation.can_make_region()
