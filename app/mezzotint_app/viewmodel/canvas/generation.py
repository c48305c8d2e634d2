"""Generation into the frame: what is there becomes init image, mask, control and reference images of a request."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, QSize, Signal
from PySide6.QtGui import QColor, QImage, QPainter

from mezzotint.jobs.store import expand, title_of
from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint, InpaintArea, InpaintFill
from mezzotint.values.regions import MAX_REGIONS, RegionRef
from mezzotint_app.background import Executor
from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.create.controls import ControlChoice, controls_in_use, controls_of
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.create.images.own_images import OwnImage, is_blank, keep, masks_folder, pasted_folder
from mezzotint_app.viewmodel.create.sizes import multiple_of
from mezzotint_app.viewmodel.create.state import DEFAULT_STRENGTH
from mezzotint_app.viewmodel.queue.access import QueueAccess

if TYPE_CHECKING:
    from mezzotint.jobs.store import JobStore

STRENGTH_OF_NEW = 1.0  # where the frame reaches beyond the picture
_GREY = QImage.Format.Format_Grayscale8


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What the canvas holds in the frame, taken from the document at once."""

    frame: QRect
    picture: QImage
    mask: QImage  # opaque where it is inpainted
    control: QImage | None
    references: tuple[QImage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InpaintChoice:
    """How the masked part is made; None: suited to what is in the frame. And the ControlNet of the control layer."""

    strength: float | None = None
    fill: InpaintFill | None = None
    feather: int = 8
    area: InpaintArea = "whole"  # masked: what surrounds the mask is made at the size on Create, and pasted back
    padding: int = 32  # pixels around the mask, in that case
    control: ControlChoice = field(default_factory=lambda: ControlChoice(image=""))  # what the control layer is for


class CanvasGeneration(QObject):
    """Queues requests for the frame, with model, prompt and settings of the Create page."""

    changed = Signal()
    message = Signal(str)
    queued = Signal(int, QRect)  # entry, and the frame that it was made for
    handed_over = Signal()

    def __init__(
        self,
        document: CanvasDocument,
        create: CreateModel,
        queue: QueueAccess,
        pool: Executor,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.document, self.create = document, create
        self._queue, self._pool = queue, pool
        self._choice = InpaintChoice()
        self._preparing = False
        create.changed.connect(self.changed)

    def choice(self) -> InpaintChoice:
        """Return the inpainting settings."""
        return self._choice

    def choose(self, choice: InpaintChoice) -> None:
        """Set the inpainting settings."""
        if choice != self._choice:
            self._choice = choice
            self.changed.emit()

    def step(self) -> int:
        """Return the number that both sides of the frame must be multiples of."""
        return multiple_of(self.create.chosen.info())

    def problem(self) -> str:
        """Return why nothing can be generated, or ""."""
        control = self._choice.control
        if self.has_control() and control.on and not control.model and not self.create.chosen.settings().controls:
            return self.tr("Choose a ControlNet for the control layer, or hide the layer.")
        return next(iter(self.create.problems(of_batch=not self.document.is_empty()).values()), "")

    def note(self) -> str:
        """Return what is left out of the next image, or ""."""
        info, document = self.create.chosen.info(), self.document
        if info is None or info.references or document.bounds(("reference",)).isEmpty():
            return ""
        return self.tr("{model} takes no reference images: reference layers are left out.").format(model=info.id)

    def has_control(self) -> bool:
        """Whether the frame shows something of a control layer."""
        return self.document.bounds(("control",)).intersects(self.document.frame())

    def is_preparing(self) -> bool:
        """Whether images are being written for the queue."""
        return self._preparing

    def generate(self) -> bool:
        """Queue what the frame asks for; returns False if there is a problem."""
        problem = self.problem()
        if problem or self._preparing:
            self.message.emit(problem)
            return False
        material, choice, base = self._material(), self._choice, self.create.request()
        self._set_preparing(True)

        def add(request: GenerateRequest) -> None:
            self._queue.change(lambda store: self._add(store, request), done, self._failed)

        def done(entry: int) -> None:
            self._set_preparing(False)
            self.create.prompts.remember()
            self.queued.emit(entry, material.frame)

        self._pool.run(lambda: request_for(base, material, choice), add, self._failed)
        return True

    def can_make_region(self) -> bool:
        """Whether the active layer is a mask that shows in the frame; otherwise it is said."""
        layer = self.document.active()
        where = QRect() if layer is None or layer.kind != "mask" else self.document.content_of(layer.id)
        if not where.intersects(self.document.frame()):
            self.message.emit(self.tr("Choose a mask layer that has something in the frame."))
        elif len(self.create.chosen.settings().regions) >= MAX_REGIONS:
            self.message.emit(self.tr("There are as many regions as can be used."))
        else:
            return True
        return False

    def make_region(self, prompt: str) -> None:
        """Add a regional prompt for the active mask layer, which is hidden: it would be made anew otherwise."""
        layer, frame, create = self.document.active(), self.document.frame(), self.create
        if not prompt.strip() or layer is None or not self.can_make_region():
            return
        painted = self.document.store(layer.id).read(frame.translated(-layer.x, -layer.y))

        def add(kept: OwnImage) -> None:
            region = RegionRef(mask=kept.path, mask_sha256=kept.sha256, prompt=prompt.strip())
            create.chosen.change(regions=(*create.chosen.settings().regions, region))
            self.document.change_layer(layer.id, visible=False)
            self.message.emit(self.tr("The region was added; its layer is hidden. Regions are listed on Create."))

        self._pool.run(lambda: keep(alpha_of(painted), masks_folder()), add, self._failed)

    def hand_over(self) -> None:
        """Make what is in the frame the init image of the Create page, with its mask and control image."""
        material, choice, base, create = self._material(), self._choice, self.create.request(), self.create

        def use(request: GenerateRequest) -> None:
            self._set_preparing(False)
            if not any(one.role == "init" for one in request.images):
                self.message.emit(self.tr("There is no picture in the frame."))
                return
            if material.control is not None and request.controls:
                create.chosen.change(controls=controls_of(request.controls))
            if request.inpaint is None or request.inpaint.area == "whole":
                create.chosen.set_size(material.frame.width(), material.frame.height())
            create.images.apply(request)
            self.handed_over.emit()

        self._set_preparing(True)
        self._pool.run(lambda: request_for(base, material, choice), use, self._failed)

    def _add(self, store: "JobStore", request: GenerateRequest) -> int:
        wanted = expand(request)
        return store.add(wanted, title=title_of(request) if len(wanted) > 1 else None)

    def _failed(self, error: Exception) -> None:
        self._set_preparing(False)
        self.message.emit(self.tr("Nothing was queued: {0}").format(error))

    def _set_preparing(self, preparing: bool) -> None:
        self._preparing = preparing
        self.changed.emit()

    def _material(self) -> Material:
        document = self.document
        document.end_step()
        frame, info = document.frame(), self.create.chosen.info()
        wanted = [one for one in document.layers() if one.visible and one.kind == "reference"]
        many = 0 if info is None else info.references
        return Material(
            frame=frame,
            picture=document.flattened(frame),
            mask=document.flattened(frame, ("mask",)),
            control=document.flattened(frame, ("control",)) if self.has_control() else None,
            references=tuple(
                document.store(one.id).read(bounds)
                for one in wanted[:many]
                if not (bounds := document.store(one.id).content()).isEmpty()
            ),
        )


def request_for(base: GenerateRequest, material: Material, choice: InpaintChoice) -> GenerateRequest:
    """Return the request for a frame; writes its images, so call this in a worker thread. Raises StorageError."""
    request = _sized(base, material.frame.size())
    if material.control is not None:
        kept = keep(_opaque(material.control, QColor(0, 0, 0)), pasted_folder())
        request = _controlled(request, choice.control, kept.path)
    found = [keep(_opaque(one), pasted_folder()) for one in material.references]
    references = tuple(ImageInput(path=one.path, role="reference", sha256=one.sha256) for one in found)
    missing, everything = alpha_of(material.picture, inverted=True), alpha_of(material.picture)
    if is_blank(everything):  # from nothing
        return replace(request, images=references, inpaint=None, strength=None)
    init = keep(_opaque(material.picture), pasted_folder())
    images: tuple[ImageInput, ...] = (ImageInput(path=init.path, role="init", sha256=init.sha256),)
    grows = not is_blank(missing)
    mask = _lighter(_grown(missing, choice.feather) if grows else missing, alpha_of(material.mask))
    inpaint = None
    if not is_blank(mask):
        kept = keep(mask, masks_folder())
        images = (*images, ImageInput(path=kept.path, role="mask", sha256=kept.sha256))
        fill = choice.fill or ("blur" if grows else "original")
        inpaint = Inpaint(area=choice.area, padding=choice.padding, feather=choice.feather, fill=fill)
        if choice.area == "masked":
            first = base.cascade.stages[0]
            request = _sized(request, (first.width, first.height))
    new = inpaint is not None and inpaint.fill != "original"
    usual = STRENGTH_OF_NEW if new else DEFAULT_STRENGTH
    strength = usual if choice.strength is None else choice.strength
    return replace(request, images=(*images, *references), inpaint=inpaint, strength=strength)


def alpha_of(image: QImage, *, inverted: bool = False) -> QImage:
    """Return the alpha as a grayscale image; inverted, white is where nothing is."""
    alpha = image.convertToFormat(QImage.Format.Format_Alpha8)
    grey = QImage(alpha.constBits(), alpha.width(), alpha.height(), alpha.bytesPerLine(), _GREY).copy()
    if inverted:
        grey.invertPixels()
    return grey


def _grown(grey: QImage, pixels: int) -> QImage:
    """Extend white into the picture: the soft edge is inside the mask, and should not show what is missing."""
    reach = 0
    while reach < pixels:
        step = min(reach + 1, pixels - reach)
        for across, down in ((step, 0), (0, step)):
            before = grey
            for sign in (1, -1):
                grey = _lighter(grey, before, sign * across, sign * down)
        reach += step
    return grey


def _lighter(one: QImage, other: QImage, across: int = 0, down: int = 0) -> QImage:
    result = one.copy()
    painter = QPainter(result)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Lighten)
    painter.drawImage(across, down, other)
    painter.end()
    return result


def _opaque(image: QImage, ground: QColor | None = None) -> QImage:
    result = QImage(image.size(), QImage.Format.Format_RGB32)
    result.fill(ground or QColor(255, 255, 255))
    painter = QPainter(result)
    painter.drawImage(0, 0, image)
    painter.end()
    return result


def _sized(request: GenerateRequest, size: QSize | tuple[int | None, int | None]) -> GenerateRequest:
    """At a size; passes that enlarge are left out, as the result goes back into the frame."""
    cascade = request.cascade
    if any(one.scale != 1.0 or one.refines for one in cascade.transitions):
        cascade = replace(cascade, stages=(replace(cascade.stages[0], until=None),), transitions=())
    first, *others = cascade.stages
    width, height = (size.width(), size.height()) if isinstance(size, QSize) else size
    first = replace(first, width=width, height=height)
    return replace(request, cascade=replace(cascade, stages=(first, *others)))


def _controlled(request: GenerateRequest, choice: ControlChoice, path: str) -> GenerateRequest:
    """With the control layer as the image of its ControlNet, or else of the first on Create."""
    if choice.model or not choice.on:
        own = controls_in_use((replace(choice, image=path),))
        return replace(request, controls=(*own, *request.controls))
    if not request.controls:
        return request
    first, *others = request.controls
    return replace(request, controls=(replace(first, image=path, image_sha256=None), *others))
