"""Start a request from an image's metadata: complete for our own images, as far as known for other programs'."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mezzotint.batch.job.settings import request_of, with_second_pass_steps
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import UsageError
from mezzotint.families.lora.prompt_tags import without_lora_tags
from mezzotint.library.recorded_files import RecordedFiles
from mezzotint.options import OPTIONS, Options
from mezzotint.parsed import Guess, Parsed
from mezzotint.protocol import GenerateRequest, ImageMetadata, LoraRef, Space
from mezzotint.request_protocol import our_seed
from mezzotint.sampling_protocol import SAMPLERS, SCHEDULES, both_guidances


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What the names in other programs' metadata may mean here; by default nothing."""

    is_model: Callable[[str], bool] = lambda _: False
    loras: Callable[[], Mapping[str, Path]] = dict
    upscalers: Callable[[], Sequence[str]] = tuple
    files: RecordedFiles | None = None  # those that our own images name; None: beside none
    family: Callable[[str | None], str | None] = lambda _: None  # of the model used where an image's is called so


def request_from_metadata(
    metadata: ImageMetadata, image: str, installed: Installed, *, has_init: bool = False, has_mask: bool = False
) -> Parsed[GenerateRequest]:
    """Return the request to start from; `has_init` and `has_mask`: whether such images are given beside it.

    Raises UsageError for an image without metadata.
    """
    if metadata.request is not None:
        files = installed.files or RecordedFiles(folders=())
        request = files.located(metadata.request)
        return Parsed(request, source=plain(image), unused=tuple(files.missing))
    if metadata.prompt is None:
        raise UsageError(_no_prompt(metadata, plain(image)))
    reading = _Reading(metadata, installed)
    request = reading.request(has_init=has_init, has_mask=has_mask)
    return Parsed(
        request,
        source=f"{plain(image)}, made by {plain(metadata.program)}",
        unused=(*reading.lost, "its noise and arithmetic (the new image will differ)"),
        guesses=tuple(reading.guesses),
    )


def _no_prompt(metadata: ImageMetadata, image: str) -> str:
    note = metadata.other.get("note")
    if metadata.steps is None and metadata.seed is None:
        return f"{image} has no metadata about how it was made{f': {plain(note)}' if note else ''}"
    words = metadata.other.get("words from", note)
    why = f" (words from {plain(words)})" if words else ""
    return (
        f"{image}, made by {plain(metadata.program)}, has no prompt that can be read{why}: give its settings as options"
    )


class _Reading:
    """The options that an image of another program was made with, as far as they are known here."""

    def __init__(self, metadata: ImageMetadata, installed: Installed) -> None:
        self._metadata, self._installed = metadata, installed
        self._values: dict[str, Any] = {}
        self.lost: list[str] = []
        self.guesses: list[Guess] = []

    def request(self, *, has_init: bool, has_mask: bool) -> GenerateRequest:
        """The request."""
        found = self._metadata
        self._read_sampling()
        self._read_names()
        self._read_clip_skip()
        is_hires = self._read_second_pass()
        prompt = without_lora_tags(found.prompt or "") if found.loras else found.prompt
        made = request_of(Options(prompt=prompt, negative=found.negative_prompt or None, **self._values))
        if is_hires and found.hires_steps:
            made = with_second_pass_steps(made, found.hires_steps)
        if not is_hires and found.strength is not None:
            made = self._with_strength(made, has_init=has_init)
        if found.inpaint is not None and not has_mask:
            self.lost.append("the settings of its mask")
        self.lost += [plain(each) for each in found.unused or ()]
        return replace(made, prompt=prompt or "")

    def _with_strength(self, request: GenerateRequest, *, has_init: bool) -> GenerateRequest:
        strength = self._metadata.strength
        if has_init and OPTIONS["strength"].fits(strength):
            return replace(request, strength=strength)
        self.lost.append(f"strength {plain(strength, 60)}" + ("" if has_init else ", as no init image is given"))
        return request

    def _read_sampling(self) -> None:
        found = self._metadata
        guidance, true_cfg = both_guidances(found.guidance_scale, found.distilled_guidance_scale)
        self._take("seed", our_seed(found.seed))
        if found.width is not None and found.height is not None:
            self._take("size", (found.width, found.height))
        for name, value, known in (("sampler", found.sampler, SAMPLERS), ("schedule", found.schedule, SCHEDULES)):
            self._take(name, value, value in known)
        for name, number in (
            ("steps", found.steps),
            ("guidance", guidance),
            ("true-cfg", true_cfg),
            ("variation-strength", found.variation_strength),
            ("variation-seed", found.variation_seed if found.variation_strength else None),
        ):
            self._take(name, number)

    def _read_names(self) -> None:
        """Model, refiner and LoRAs, matched by file name only: another program's path need not exist here."""
        found = self._metadata
        for name, asked in (("model", found.model), ("refiner", found.refiner)):
            last = _last_part(asked)
            if self._take(name, last or asked, bool(last) and self._installed.is_model(last)):
                self._guess(name, last, found.model_hash if name == "model" else None)
        if "refiner" in self._values:
            self._take("refiner-at", found.refiner_at)
        files = {name.casefold(): path for name, path in self._installed.loras().items()} if found.loras else {}
        loras = []
        for lora in found.loras or ():
            path = files.get(_last_part(lora.name).removesuffix(".safetensors").casefold())
            if path is None:
                self.lost.append(f"LoRA {plain(lora.name, 60)}:{lora.weight:g}")
                continue
            loras.append(LoraRef(path=str(path), weight=lora.weight))
            self._guess("lora", path.name, None)
        self._values["lora"] = tuple(loras)

    def _read_clip_skip(self) -> None:
        """Take clip skip over where the model has it; other programs count SDXL's from the layer that is its usual."""
        skip, family = self._metadata.clip_skip, self._installed.family(self._values.get("model"))
        if skip and family == "sdxl" and self._metadata.program != "mezzotint":
            if self._take("clip-skip", skip - 1):
                reason = f"clip skip {skip + 1}, of which SDXL has 2 by itself"
                self.guesses.append(Guess(assumed=f"clip skip {skip - 1}", reason=reason, option="--clip-skip"))
        elif skip:
            self._take("clip-skip", skip, family in ("sdxl", "sd15"))

    def _guess(self, option: str, file: str, digest: str | None) -> None:
        compared = f"its name ({plain(digest, 70)} is not compared)" if digest else "its name"
        self.guesses.append(Guess(assumed=plain(file, 60), reason=compared, option=f"--{option}"))

    def _read_second_pass(self) -> bool:
        """Whether the image had a second pass, whose values are read then."""
        found = self._metadata
        if found.hires_scale is None and found.hires_upscaler is None and found.hires_steps is None:
            return False
        if found.hires_scale is None or not self._take("hires", found.hires_scale):
            self.lost += [f"hires upscaler {plain(found.hires_upscaler, 60)}"] if found.hires_upscaler else []
            self.lost += [f"hires steps {found.hires_steps}"] if found.hires_steps else []
            return False
        self._take("hires-strength", found.strength)
        self._read_upscaler(found.hires_space, found.hires_upscaler)
        strength = f" and strength {found.strength:g}" if found.strength is not None else ""
        reason = f"hires upscale {found.hires_scale:g}{strength}"
        self.guesses.append(Guess(assumed="a second pass (hires)", reason=reason, option="--hires"))
        return True

    def _read_upscaler(self, space: Space | None, name: str | None) -> None:
        if name is None:
            return
        if space is None and name not in self._installed.upscalers():
            self.lost.append(f"hires upscaler {plain(name, 60)}")
        else:
            self._values |= {"hires_space": space or "pixel", "hires_upscaler": name}

    def _take(self, name: str, value: object, is_known: bool = True) -> bool:
        """Take a value for the option of that name over, or note it as lost."""
        if value is None:
            return False
        if is_known and OPTIONS[name].fits(value):
            self._values[OPTIONS[name].field] = value
            return True
        shown = "x".join(map(str, value)) if isinstance(value, tuple) else plain(value, 60)
        self.lost.append(f"{name.replace('-', ' ')} {shown}")
        return False


def _last_part(name: str | None) -> str:
    return (name or "").replace("\\", "/").rpartition("/")[2]
