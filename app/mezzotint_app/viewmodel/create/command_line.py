"""A request as the words of `mezzotint generate`, quoted for the shell that people have."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from mezzotint.protocol import GenerateRequest, Inpaint
from mezzotint_app.viewmodel.create.reading import Reading, read_request
from mezzotint_app.viewmodel.create.state import CreateSettings

translate = QCoreApplication.translate

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:\\")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """The words, and what no option says."""

    words: tuple[str, ...]
    left_out: tuple[str, ...]  # for people

    def text(self, system: str = sys.platform) -> str:
        """As it is pasted into a shell."""
        return quoted(self.words, system)


def command_line(request: GenerateRequest) -> CommandLine:
    """The command that makes the same images."""
    reading = read_request(request)
    left_out = list(reading.left_out)
    if any(one.role not in ("init", "mask") for one in request.images):
        left_out.append(translate("Create", "reference images"))
    words = ["mezzotint", "generate", *_options(request, reading)]
    words += ["--", request.prompt] if request.prompt.startswith("-") else [request.prompt]
    return CommandLine(words=tuple(words), left_out=tuple(left_out))


def quoted(words: Sequence[str], system: str = sys.platform) -> str:
    """For PowerShell on Windows, which its terminals open with, and for any shell of the usual kind elsewhere."""
    if system == "win32":
        return " ".join(map(_for_powershell, words))
    return shlex.join(words)


def _for_powershell(word: str) -> str:
    if word and set(word) <= _PLAIN:
        return word
    quotes = "'\u2018\u2019\u201a\u201b"  # PowerShell takes typographic quotes for quotes
    return "'" + "".join(letter * 2 if letter in quotes else letter for letter in word) + "'"


def _options(request: GenerateRequest, reading: Reading) -> Iterator[str]:
    settings = reading.settings
    yield from _said("--model", reading.model)
    if request.negative_prompt:
        yield f"--negative={request.negative_prompt}"  # one word: it may begin with a hyphen
    if settings.width is not None and settings.height is not None:
        yield from ("--size", f"{settings.width}x{settings.height}")
    yield from _said("--seed", request.seed)
    if request.count != 1:
        yield from ("--count", str(request.count))
    yield from _pictures(request)
    yield from _sampling(settings)
    yield from _cascade(settings)
    yield from _machine(request)
    yield from _path("--output", request.output.path)
    if request.output.overwrite:
        yield "--overwrite"
    yield from _path("--preview-dir", request.output.preview_folder)


def _pictures(request: GenerateRequest) -> Iterator[str]:
    for image in request.images:
        if image.role in ("init", "mask"):
            yield from _path(f"--{image.role}", image.path)
    yield from _said("--strength", request.strength)
    if request.inpaint is not None:
        masked = any(image.role == "mask" for image in request.images)
        yield from _inpaint(request.inpaint, masked=masked)
    for path in request.embeddings:
        yield from _path("--embedding", path)
    for lora in request.loras:
        yield from _path("--lora", f"{lora.path}:{_number(lora.weight)}")


def _inpaint(inpaint: Inpaint, *, masked: bool) -> Iterator[str]:
    margins = inpaint.left, inpaint.top, inpaint.right, inpaint.bottom
    if masked or any(margins):  # else it says nothing
        yield from ("--inpaint-area", inpaint.area, "--inpaint-padding", str(inpaint.padding))
        yield from ("--inpaint-feather", str(inpaint.feather), "--inpaint-fill", inpaint.fill)
    if any(margins):
        yield from ("--outpaint", ",".join(map(str, margins)))


def _sampling(settings: CreateSettings) -> Iterator[str]:
    yield from _said("--steps", settings.steps)
    yield from _said("--guidance", settings.guidance_scale)
    yield from _said("--guidance-rescale", settings.guidance_rescale)
    yield from _said("--sampler", settings.sampler)
    yield from _said("--schedule", settings.schedule)
    yield from _said("--clip-skip", settings.clip_skip)
    yield from _said("--prediction-type", settings.prediction_type)
    if settings.zero_terminal_snr is not None:
        yield "--zero-terminal-snr" if settings.zero_terminal_snr else "--no-zero-terminal-snr"
    yield from _path("--weights", settings.weights)


def _cascade(settings: CreateSettings) -> Iterator[str]:
    if settings.refiner is not None:
        yield from _said("--refiner", settings.refiner)
        yield from _said("--refiner-at", settings.refiner_at)
    if settings.second_pass:
        yield from _said("--hires", settings.second_scale)
        yield from _said("--hires-strength", settings.second_strength)
        yield from _said("--hires-space", settings.second_space)
        yield from _said("--hires-upscaler", settings.second_upscaler)


def _machine(request: GenerateRequest) -> Iterator[str]:
    for option, value in (
        ("--device", request.device),
        ("--dtype", request.dtype),
        ("--attention", request.attention),
        ("--cuda-graphs", request.cuda_graphs),
        ("--quant", request.quantization),
        ("--quant-text", request.text_quantization),
        ("--memory", request.memory),
    ):
        if value != "auto":
            yield from (option, value)
    for option, count in (("--vram-limit", request.vram_limit_bytes), ("--ram-limit", request.ram_limit_bytes)):
        if count is not None:
            yield from (option, _memory(count))
    yield from _said("--vae-tile", request.vae_tile)
    if request.strict:
        yield "--strict"
    if request.compile:
        yield "--compile"
    if request.fast:
        yield "--fast"


def _said(option: str, value: object) -> Iterator[str]:
    if value is not None:
        yield from _path(option, _number(value) if isinstance(value, float) else str(value))


def _path(option: str, value: str | None) -> Iterator[str]:
    """One word where the value could be taken for an option."""
    if value is not None:
        yield from (f"{option}={value}",) if value.startswith("-") else (option, value)


def _number(value: float) -> str:
    return repr(int(value)) if value == int(value) else repr(value)


def _memory(count: int) -> str:
    if count % (1 << 30) == 0:
        return f"{count >> 30}GB"
    return f"{count / (1 << 20):.6f}".rstrip("0").rstrip(".") + "MB"
