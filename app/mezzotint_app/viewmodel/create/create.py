"""The Create page: its settings as a request, and queueing it."""

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from mezzotint.jobs.store import enlarging_request, expand, title_of
from mezzotint.library_protocol import Style
from mezzotint.protocol import GenerateRequest, ImageInput, ImageMetadata, MemoryPolicy, PlanRequest, faster_models
from mezzotint.request_protocol import HIRES_SCALE, REFINE_SCALE
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Service
from mezzotint_app.settings import Settings, output_folder
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.checks import Checked, problems, takes_controls
from mezzotint_app.viewmodel.create.command_line import command_line
from mezzotint_app.viewmodel.create.controls import planned_controls
from mezzotint_app.viewmodel.create.faster import Faster
from mezzotint_app.viewmodel.create.images.control_previews import ControlPreviews
from mezzotint_app.viewmodel.create.images.image_input import ImageInputModel
from mezzotint_app.viewmodel.create.images.references import ReferencesModel
from mezzotint_app.viewmodel.create.preflight import EngineLife, Preflight
from mezzotint_app.viewmodel.create.preview import Preview, StoppableRunner
from mezzotint_app.viewmodel.create.prompting.prompts import Prompts, with_words
from mezzotint_app.viewmodel.create.reading import ReadSettings, read_metadata, read_request
from mezzotint_app.viewmodel.create.request import Form, request_of
from mezzotint_app.viewmodel.create.seed_choice import RequestHistory, SeedChoice
from mezzotint_app.viewmodel.create.state import CreateState, with_lora
from mezzotint_app.viewmodel.create.styles import StyleChoices
from mezzotint_app.viewmodel.dropped.folder_of_images import MOST_IMAGES, Images, batch_of
from mezzotint_app.viewmodel.models.choices import ModelChoices
from mezzotint_app.viewmodel.models.settings import ModelSettings
from mezzotint_app.viewmodel.pixels import PixelLoader
from mezzotint_app.viewmodel.queue.access import QueueAccess

if TYPE_CHECKING:
    from mezzotint.jobs.store import JobStore

Part = Literal["all", "prompt", "seed"]
_SEEDS_DRAWN_BELOW = 2**32  # the range that other programs can read
MOST_COMMANDS = 100  # copied at once
_EARLIER_SECTIONS = {"picture": "image"}  # section names in files of version 0.1


class CreateModel(QObject):
    """Connects the parts of the page; each can be used on its own."""

    changed = Signal()  # anything that affects the request
    noticed = Signal(str)  # message for the user
    not_queued = Signal(str)  # why an entry could not be added
    queued = Signal(int)  # id of an added entry

    def __init__(
        self,
        engine: Service,
        librarian: Service,
        queue: QueueAccess,
        runner: StoppableRunner,
        images: ImageInputModel,
        settings: Stored[Settings],
        state: Stored[CreateState],
        pool: Executor,
        parent: QObject | None = None,
        *,
        life: EngineLife | None = None,
    ) -> None:
        super().__init__(parent)
        self._queue, self._window, self._state, self._pool = queue, settings, state, pool
        self.images = images
        self._timed: tuple[PlanRequest | None, int] | None = None  # arguments of the last time estimate
        self.models = ModelChoices(librarian, self)
        self.references = ReferencesModel(librarian, pool, self)
        self.control_previews = ControlPreviews(librarian, pool, self)
        self.control_previews.noticed.connect(self.noticed)
        self.chosen = ModelSettings(state, self.models, self)
        self.prompts = Prompts(librarian, settings, state, pool, self)
        self.styles = StyleChoices(librarian, state, self)
        self._request_history = RequestHistory(runner, self)  # must receive the end of a task before the page does
        self.preview = Preview(queue, runner, PixelLoader(librarian, pool, self), pool, self)
        self.seed = SeedChoice(state, self._last_seed, self)
        self.preflight = Preflight(engine, life, self)
        self.faster = Faster(self.chosen, self.preflight, images, self)
        self.models.changed.connect(self.chosen.settle)
        for signal in (
            state.changed,
            settings.changed,
            images.changed,
            self.references.changed,
            self.models.changed,
        ):
            signal.connect(self._update)
        self.preview.results_changed.connect(
            lambda: state.change(results=self.preview.results(), made=self._request_history.last())
        )
        self.prompts.alternatives.changed.connect(self.changed)
        self.changed.connect(lambda: self._ask_time(force=False))
        self.preview.ended.connect(lambda: self._ask_time(force=True))
        self.preview.ended.connect(self.changed)  # a failed request does not count as a repetition
        queue.opened.connect(lambda _notice: self._ask_time(force=True))
        self.prompts.refused.connect(self.noticed)
        for completion in (self.prompts.completion, self.prompts.negative_completion):
            completion.failed.connect(self.noticed)
            completion.lora_chosen.connect(self.add_lora)
            completion.lora_described.connect(self.add_lora)
            completion.embedding_chosen.connect(self._add_embedding)
            completion.style_chosen.connect(lambda name: self.styles.use_named(name, self.request(styled=False)))
        self.models.failed.connect(self.noticed)
        self.styles.applied.connect(self._apply_style)
        self.queued.connect(lambda _entry: self.preview.forget_failure())
        images.size_wanted.connect(self.chosen.take_image_size)
        self._update()

    def restore(self) -> None:
        """Restore the last images, init and reference images, and list upscalers, once the library has started."""
        self.models.list_networks()
        kept, images, references = self._state.value(), self.images, self.references
        if kept.made is not None:
            self._request_history.remember(kept.made)
        self.preview.restore(kept.results)
        if kept.images:
            request = GenerateRequest(prompt="", images=kept.images, strength=kept.strength, inpaint=kept.inpaint)
            images.apply(request)
            references.apply(request)
        for signal in (images.changed, references.changed):
            signal.connect(
                lambda: self._state.change(images=self._inputs(), strength=images.strength(), inpaint=images.inpaint())
            )

    # ---- settings shared by all models

    def memory(self) -> MemoryPolicy:
        """Return the memory policy."""
        return self._window.value().memory

    def set_memory(self, policy: MemoryPolicy) -> None:
        """Set the memory policy."""
        self._window.change(memory=policy)

    def open_sections(self) -> tuple[str, ...]:
        """Return the sections of the page that are expanded."""
        return tuple(_EARLIER_SECTIONS.get(name, name) for name in self._state.value().open_folds)

    def remember_section(self, name: str, is_open: bool) -> None:
        """Store whether a section of the page is expanded."""
        others = tuple(one for one in self.open_sections() if one != name)
        self._state.change(open_folds=(*others, name) if is_open else others)

    # ---- request

    def request(self, *, styled: bool = True) -> GenerateRequest:
        """Return the current settings as a request, with prompt alternatives not yet expanded.

        `styled`: with the texts of the styles in use, otherwise only with their names.
        """
        settings = self.chosen.settings()
        if self.images.decides_size():
            settings = replace(settings, width=None, height=None)
        words = self.prompts
        form = Form(
            model=self.chosen.model(),
            prompt=words.styled_prompt() if styled else words.prompt(),
            negative_prompt=words.styled_negative_prompt() if styled else words.negative_prompt(),
            settings=settings,
            seed=self.seed.value(),
            images=self._inputs(),
            strength=self.images.strength(),
            inpaint=self.images.inpaint(),
            window=self._window.value(),
            output=self._output(),
        )
        return replace(request_of(form), styles=tuple(one.name for one in self.styles.in_use()))

    def problems(self, *, of_batch: bool = False) -> dict[str, str]:
        """Return the problems by field; empty if Generate can be pressed. A batch supplies its own images."""
        info = self.chosen.info()
        settings = self.chosen.settings()
        found = self.prompts.alternatives.found()
        refiners = self.models.refiners_for(info)
        conditional = self.models.conditional_refiners_for(info)
        return problems(
            Checked(
                prompt=self.prompts.prompt(),
                negative_prompt=self.prompts.negative_prompt(),
                settings=settings,
                seed=self.seed.value(),
                model=self.chosen.model(),
                info=info,
                model_problem=self.models.problem_of(info) if info is not None else None,
                models_known=self.models.known(),
                refiner_fits=any(settings.refiner in (one.id, one.path) for one in refiners),
                conditional_refiner_fits=any(settings.refine_with in (one.id, one.path) for one in conditional),
                has_image=of_batch or bool(self.images.inputs()),
                image_problem="" if of_batch else self.images.problem(),
                references=len(self.references.items()),
                reference_problem=self.references.problem(),
                alternatives_problem=found.problem if found.prompt == self.prompts.styled_prompt() else None,
            )
        )

    def image_count(self) -> int:
        """Return the number of images that Generate would queue."""
        draws = self.prompts.draws.draws(self.prompts.prompt())  # one for each image
        return self.chosen.settings().count * (1 if draws else self.prompts.alternatives.found().count)

    def generate(self, front: bool = False) -> bool:
        """Queue the request as one entry, last or first; returns False if it has problems."""
        found = self.problems()
        if found:
            self.noticed.emit(next(iter(found.values())))
            return False
        request = self.request()
        self.prompts.remember()
        if not self.prompts.draws.draws(request.prompt):
            self._add(request, lambda: expand(request), front)
            return True
        first = random.randrange(_SEEDS_DRAWN_BELOW) if request.seed is None else request.seed
        seeds = tuple(range(first, first + request.count))

        def drawn(prompts: tuple[str, ...]) -> None:
            pairs = zip(prompts, seeds, strict=True)
            wanted = tuple(replace(request, prompt=prompt, seed=seed, count=1) for prompt, seed in pairs)
            self._add(request, lambda: wanted, front)

        self.prompts.draws.draw(request.prompt, seeds, drawn, self._not_queued)
        return True

    def _not_queued(self, reason: object) -> None:
        self.not_queued.emit(self.tr("Nothing was queued: {0}").format(reason))

    def _add(self, request: GenerateRequest, make: Callable[[], tuple[GenerateRequest, ...]], front: bool) -> None:
        def add(store: "JobStore") -> int:
            wanted = make()
            # The first alternative is not representative of all.
            return store.add(wanted, front=front, title=title_of(request) if len(wanted) > 1 else None)

        def added(entry: int) -> None:
            self._request_history.remember(request)
            self.queued.emit(entry)
            self.changed.emit()

        self._queue.change(add, added, self._not_queued)

    def would_repeat(self) -> bool:
        """Whether Generate would repeat an image that was already requested."""
        return self.seed.fixed() and self._request_history.contains(self.request())

    def generate_batch(self, images: Images) -> bool:
        """Queue one entry that uses each of these images as init image; returns False if there are problems."""
        found = self.problems(of_batch=True)
        if found:
            self.noticed.emit(next(iter(found.values())))
            return False
        request, paths = self.request(), images.paths
        self.prompts.remember()

        def add(store: "JobStore") -> int:
            prompts = expand(request, limit=max(1, MOST_IMAGES // len(paths)))
            wanted = [one for path in paths for prompt in prompts for one in batch_of(prompt, (path,))]
            return store.add(wanted, title=images.folder or None)

        def added(entry: int) -> None:
            self.noticed.emit(self.tr("%n images of the batch are waiting in the queue.", "", len(paths)))
            self.queued.emit(entry)

        self._queue.change(add, added, lambda error: self.noticed.emit(str(error)))
        return True

    def copy_command(self, then: Callable[[str], None]) -> None:
        """Pass the commands that generate the same images to `then`, one per line."""
        request = self.request()

        def write() -> tuple[str, tuple[str, ...]]:
            commands = [command_line(one) for one in expand(request, limit=MOST_COMMANDS)]
            return "\n".join(command.text() for command in commands), commands[0].left_out

        def copied(written: tuple[str, tuple[str, ...]]) -> None:
            then(written[0])
            self._notify_left_out(self.tr("The command leaves out: {names}."), written[1])

        self._pool.run(write, copied, lambda error: self.noticed.emit(str(error)))

    def edit_image(self, path: str) -> bool:
        """Make an image the only reference image, with a model that edits; returns False if none is installed."""
        info = self.chosen.info()
        if info is None or not info.references:
            editing = self.models.editing()
            if editing is None:
                self.noticed.emit(
                    self.tr(
                        "No installed model edits by instruction. FLUX.2 Klein, FLUX.1 Kontext and Qwen-Image-Edit do: "
                        "download one on the Models page."
                    )
                )
                return False
            self.chosen.set_model(editing.id)
        self.images.clear()
        self.references.set([path])
        return True

    def enlarge(
        self, metadata: ImageMetadata, image: str, size: tuple[int, int], upscaler: str, strength: float
    ) -> None:
        """Queue a second pass over an enlarged image, by what made it; by the page's settings if that is not known."""
        own = self.request()
        base = metadata.request or replace(
            own, prompt=metadata.prompt or "", negative_prompt=metadata.negative_prompt or "", loras=()
        )
        request = enlarging_request(base, image, size, upscaler=upscaler, strength=strength)
        self.make_again([replace(request, dtype=own.dtype, attention=own.attention)])

    def make_again(self, requests: Sequence[GenerateRequest], then: Callable[[], None] = lambda: None) -> None:
        """Queue requests that come from finished images as one entry, with the page's device, memory and output."""
        own = self.request()
        wanted = [
            replace(
                one,
                device=own.device,
                memory=own.memory,
                vram_limit_bytes=own.vram_limit_bytes,
                ram_limit_bytes=own.ram_limit_bytes,
                previews=own.previews,
                output=own.output,
            )
            for one in requests
        ]

        def added(entry: int) -> None:
            self.queued.emit(entry)
            then()

        self._queue.change(lambda store: store.add(wanted), added, self._not_queued)

    # ---- settings from elsewhere

    def use_lora(self, path: str, model: str, trigger: str) -> None:
        """Use a trained LoRA, instead of another epoch of the same training, with its model and trigger word."""
        if self.models.find(model) is not None:
            self.chosen.set_model(model)
        others = tuple(one for one in self.chosen.settings().loras if Path(one.path).parent != Path(path).parent)
        self.chosen.change(loras=with_lora(others, path))
        if trigger and trigger.lower() not in self.prompts.prompt().lower():
            self.prompts.set_prompt(", ".join(filter(None, (trigger, self.prompts.prompt()))))

    def add_lora(self, path: str, words: Sequence[str] = (), weight: float | None = None) -> None:
        """Add a LoRA to those in use, and its trigger words to the prompt, unless they are in it."""
        loras = with_lora(self.chosen.settings().loras, path)
        if weight is not None:
            loras = tuple(replace(one, weight=weight) if one.path == path else one for one in loras)
        self.chosen.change(loras=loras)
        self.prompts.set_prompt(with_words(self.prompts.prompt(), words))

    def _add_embedding(self, path: str) -> None:
        paths = self.chosen.settings().embeddings
        self.chosen.change(embeddings=paths if path in paths else (*paths, path))

    def apply_request(self, request: GenerateRequest) -> None:
        """Fill in the page from a request."""
        self._apply(read_request(request), request)

    def apply_metadata(self, metadata: ImageMetadata, what: Part) -> None:
        """Fill in the page, or part of it, from an image's metadata."""
        target = None if metadata.model is None else self._id_of(metadata.model)
        reading = read_metadata(metadata, self.chosen.settings_of(target or self.chosen.model()), self._id_of)
        if what == "seed":
            if reading.seed is not None:
                self.seed.set(reading.seed)
            else:
                self.noticed.emit(self.tr("The image has no seed in its metadata."))
        elif what == "prompt":
            self._apply_words(reading)
        else:
            self._apply(reading, metadata.request)

    def _apply(self, reading: ReadSettings, request: GenerateRequest | None) -> None:
        left_out = list(reading.left_out)
        if not self._apply_words(reading):
            return
        model = None if reading.model is None else self.models.find(reading.model)
        if model is not None:
            self.chosen.set_model(model.id)
        elif reading.model is not None and self.models.known():
            left_out.append(self.tr("model {name}, which is not installed").format(name=reading.model))
        elif reading.model is not None:
            self.chosen.set_model(reading.model)
        self.chosen.replace(replace(reading.settings, aspect_locked=self.chosen.settings().aspect_locked))
        if reading.seed is not None:
            self.seed.set(reading.seed)
        if request is not None:
            self.images.apply(request)
            self.references.apply(request)
        self._notify_left_out(self.tr("Not copied: {names}."), tuple(left_out))

    def _apply_style(self, request: GenerateRequest, style: Style) -> None:
        """Fill in what a style sets, but neither prompts nor images."""
        reading = read_request(request)
        if "model" in style.settings and reading.model is not None:
            self.chosen.set_model(reading.model)
        self.chosen.replace(replace(reading.settings, aspect_locked=self.chosen.settings().aspect_locked))
        if "seed" in style.settings and reading.seed is not None:
            self.seed.set(reading.seed)

    def _apply_words(self, reading: ReadSettings) -> bool:
        if reading.prompt is None:
            return True
        self._state.change(styles=())  # the prompts of images include their texts
        negative = self.prompts.set_negative_prompt(reading.negative_prompt)
        return self.prompts.set_prompt(reading.prompt) and negative

    def _id_of(self, name: str) -> str | None:
        found = self.models.named(name)
        return None if found is None else found.id

    def _notify_left_out(self, sentence: str, names: tuple[str, ...]) -> None:
        if names:
            self.noticed.emit(sentence.format(names=", ".join(names)))

    # ---- internals

    def _inputs(self) -> tuple[ImageInput, ...]:
        """The init image, its mask and the reference images."""
        return self.images.inputs() + self.references.inputs()

    def _update(self) -> None:
        settings = self.chosen.settings()
        self.prompts.set_model(self.chosen.model())
        self.images.set_target(settings.width, settings.height)
        self.preflight.set(self._plan_request())
        self.changed.emit()

    def _ask_time(self, *, force: bool) -> None:
        """Estimate the time for all requested images, from earlier runs; `force`: even if the request is the same."""
        count = self.image_count()
        wanted = (self._plan_request(), count)
        if not self._queue.is_open or (wanted == self._timed and not force):
            return
        self._timed = wanted
        request = replace(self.request(), count=count)

        def read(store: "JobStore") -> float | None:
            return store.expected(request).seconds

        def estimated(seconds: float | None) -> None:
            if self._timed == wanted:
                self.preflight.expect(count, seconds)

        self._queue.ask(read, estimated, lambda _error: self.preflight.expect(count, None))

    def _plan_request(self) -> PlanRequest | None:
        """Return a plan request for the size of the largest stage; None without a usable model."""
        info = self.chosen.info()
        if info is None or self.models.problem_of(info) is not None:
            return None
        settings, window = self.chosen.settings(), self._window.value()
        width, height = self.images.result_size() or self.chosen.size()
        scale = (settings.second_scale or HIRES_SCALE) if settings.second_pass else 1.0
        multiple, models = 16, (info.id,) if settings.refiner is None else (info.id, settings.refiner)
        if settings.refine_with is not None:
            scale, models = scale * REFINE_SCALE, (settings.refine_with,)
        return PlanRequest(
            models=models,
            width=round(width * scale / multiple) * multiple,
            height=round(height * scale / multiple) * multiple,
            steps=settings.steps,
            memory=window.memory,
            quantization=settings.quantization or "auto",
            text_quantization=settings.text_quantization or "auto",
            vram_bytes=window.vram_limit_bytes,
            ram_bytes=window.ram_limit_bytes,
            references=self.references.sizes() if info.references else (),
            tokens=settings.tokens,
            sparse_attention=settings.sparse_attention,
            deep_shrink=settings.deep_shrink,
            step_cache=settings.step_cache,
            denoise_tile=settings.denoise_tile if settings.second_pass or self.images.path() else None,
            advise=True,
            fast_models=faster_models(info, self.models.all()),
            controls=planned_controls(settings.controls) if takes_controls(info) and models[0] == info.id else (),
        )

    def _last_seed(self) -> int | None:
        results = self.preview.results()
        return results[0].seed if results else None

    def _output(self) -> str:
        """Return the output path template; brackets in the folder's name are escaped, being no tokens."""
        window = self._window.value()
        return str(output_folder(window)).replace("[", "[[") + os.sep + window.name_template
