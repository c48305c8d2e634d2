"""The control images of a request: which stages can use them, and what was used of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint import paths
from mezzotint.acceleration.trunks import JOINT
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.control_protocol import MAX_CONTROLS, check_control
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.families.control.checkpoint import ControlCheckpoint, control_files, open_control
from mezzotint.families.control.control_lora import why_no_control_lora, with_control_lora
from mezzotint.families.control.files import files_of as network_files
from mezzotint.families.control.fitting import why_not, with_control
from mezzotint.families.control.modes import FLUX_MODES, UNION_MODES, mode_of
from mezzotint.families.control.redux import image_tokens
from mezzotint.families.control.settings import ControlKind, ControlSettings
from mezzotint.families.family import ModelSources, Patch
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.known import family_of
from mezzotint.memory.planning.task import StageTask
from mezzotint.protocol import ControlRef, ControlUsed, FileUsed, IsCancelled, LoraRef, Preprocess, Sampling

_TENSOR = "control_{}"
_OWN: ControlKind = "flux-control"  # of models that take a control image themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class StageControl:
    """A control image that a stage's model can use."""

    index: int  # among the request's
    settings: ControlSettings
    preprocess: Preprocess
    keep: bool = False
    channels: int = 3  # of the image as its network takes it: 1 in grey
    lora: LoraRef | None = None  # by which its model takes it


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedControls:
    """A stage's control images, its model with their networks, and why others are left out."""

    sources: ModelSources
    controls: tuple[StageControl, ...] = ()
    left_out: tuple[str, ...] = ()


class ControlFitting:
    """Fits control images to stages: files are opened and checked at once; raises UsageError and ModelRefused."""

    def __init__(self, controls: Sequence[ControlRef]) -> None:
        if len(controls) > MAX_CONTROLS:
            raise UsageError(f"{len(controls)} control images are given; at most {MAX_CONTROLS} can be used")
        for control in controls:
            try:
                check_control(control)
            except ValueError as error:
                raise UsageError(f"control: {error}") from None
        self._controls, self._used = controls, set[int]()
        wanted = dict.fromkeys((control.model, control.encoder) for control in controls if control.model)
        self._opened = {(path, encoder): open_control(Path(path), encoder) for path, encoder in wanted}
        self._refusals: dict[int, str] = {}

    def fit(self, sources: ModelSources, model: str, sampling: Sampling, size: tuple[int, int]) -> FittedControls:
        """Return those that a stage's model can use, for images of this size in pixels."""
        found: list[StageControl] = []
        left_out = {}
        for index, control in enumerate(self._controls):
            reason = self._why_not(control, sources, model)
            if reason is not None:
                name = control.model or control.image
                self._refusals.setdefault(index, reason)
                left_out[name] = f"{plain(name, 200)} is left out for {plain(model, 100)}: {reason}"
                continue
            self._used.add(index)
            sources, made = self._fitted(index, control, sources, model, size)
            found.append(made)
        if sum(control.settings.kind == _OWN for control in found) > 1:
            raise UsageError(f"{plain(model, 100)} takes one control image itself; leave the others out")
        if sources.takes_control and not any(control.settings.kind == _OWN for control in found):
            raise UsageError(
                f"{plain(model, 100)} needs a control image: give it with --control IMAGE, without model=, such as "
                "--control edges.png"
            )
        _check_speedups(found, sampling)
        return FittedControls(sources=sources, controls=tuple(found), left_out=tuple(left_out.values()))

    def _why_not(self, control: ControlRef, sources: ModelSources, model: str) -> str | None:
        if not control.model:
            missing = f"no ControlNet is given for it, and {plain(model, 100)} takes no image itself; add model=..."
            return None if sources.takes_control else missing
        checkpoint = self._opened[control.model, control.encoder]
        if checkpoint.kind == _OWN:
            return why_no_control_lora(sources, model)
        return why_not(checkpoint, sources, model)

    def _fitted(
        self, index: int, control: ControlRef, sources: ModelSources, model: str, size: tuple[int, int]
    ) -> tuple[ModelSources, StageControl]:
        if not control.model:
            return sources, _own_control(index, control, model)
        checkpoint = self._opened[control.model, control.encoder]
        if checkpoint.kind == _OWN:
            patched = with_control_lora(sources, Patch(file=checkpoint.path, scale=control.weight))
            return patched, _own_control(index, control, model)
        if control.mask is not None and checkpoint.kind != "ip-adapter":
            raise UsageError(
                f"{plain(control.model, 200)} is no IP-Adapter, and only those take a mask: leave mask= out, or "
                "make the control image black where it should not matter"
            )
        sources, component = with_control(sources, checkpoint)
        made = _stage_control(index, control, checkpoint, component)
        if checkpoint.kind == "t2i-adapter":
            config = sources.components[component].config
            _check_size(control, int(str(config["downscale_factor"])), size)
            made = replace(made, channels=int(str(config["in_channels"])))
        return sources, made

    def check_used(self) -> None:
        """Raise ModelRefused for one that no stage could use."""
        for index, reason in self._refusals.items():
            if index not in self._used:
                control = self._controls[index]
                if not control.model:
                    raise UsageError(f"the control image {plain(control.image, 200)}: {reason}")
                raise ModelRefused(f"{plain(control.model, 300)}: {reason}; use one that was made for it")

    def check_compiled(self) -> None:
        """Raise UsageError for an IP-Adapter, which compiled blocks would pass over."""
        name = next((checkpoint.path for checkpoint in self._opened.values() if checkpoint.kind == "ip-adapter"), None)
        if name is not None:
            raise UsageError(f"--compile and the IP-Adapter {plain(name, 200)} cannot be used together; leave one out")


def _check_speedups(controls: Sequence[StageControl], sampling: Sampling) -> None:
    adds = any(control.settings.is_asked_each_step for control in controls)
    if adds and sampling.deep_shrink is not None:
        raise UsageError(
            "--deep-shrink and --control cannot be used together: the one makes features smaller that the other "
            "adds to; leave one of them out"
        )
    if adds and sampling.step_cache:
        raise UsageError(
            "--step-cache and --control cannot be used together: what is added to each block would be added to "
            "blocks that the cache leaves out; leave one of them out"
        )
    partly = any(one.kind == "redux" and (one.start > 0 or one.end < 1) for one in (c.settings for c in controls))
    if partly and sampling.step_cache:
        raise UsageError(
            "--step-cache and Redux in some of the steps cannot be used together, as the text changes its length: "
            "leave start and end out, or --step-cache"
        )


def _own_control(index: int, control: ControlRef, model: str) -> StageControl:
    """A control image that a model takes itself, maybe by a LoRA; raises UsageError for what that cannot be."""
    usual = ControlRef(image=control.image, type=control.type, preprocess=control.preprocess, keep=control.keep)
    lora = None
    if control.model:
        lora = LoraRef(path=control.model, weight=control.weight)
        usual = replace(usual, model=control.model, weight=control.weight)
    if replace(control, sha256=None, image_sha256=None) != usual:
        raise UsageError(
            f"{plain(control.model or model, 200)} takes a control image in all steps and everywhere: leave start, end "
            "and mask out, and without a LoRA weight, too"
        )
    settings = ControlSettings(
        component="transformer", tensor=_TENSOR.format(index), weight=1.0, start=0.0, end=1.0, kind=_OWN
    )
    return StageControl(index=index, settings=settings, preprocess=control.preprocess, keep=control.keep, lora=lora)


def _check_size(control: ControlRef, factor: int, size: tuple[int, int]) -> None:
    if any(side % factor for side in size):
        better = "x".join(str(max(factor, round(side / factor) * factor)) for side in size)
        raise UsageError(
            f"{plain(control.model, 200)} needs sides that are multiples of {factor} pixels, not {size[0]}x{size[1]}; "
            f"try --size {better}"
        )


def _stage_control(index: int, control: ControlRef, checkpoint: ControlCheckpoint, component: str) -> StageControl:
    modes = FLUX_MODES if checkpoint.kind == "flux-controlnet" else UNION_MODES
    mode = mode_of(control, checkpoint.modes, modes) if checkpoint.is_union else None
    settings = ControlSettings(
        component=component,
        tensor=_TENSOR.format(index),
        weight=control.weight,
        start=control.start,
        end=control.end,
        mode=mode,
        kind=checkpoint.kind,
        mask=None if control.mask is None else f"{_TENSOR.format(index)}_mask",
    )
    return StageControl(index=index, settings=settings, preprocess=control.preprocess, keep=control.keep)


def with_further(
    task: StageTask, sources: ModelSources, controls: Sequence[StageControl], regions: int = 0
) -> StageTask:
    """The stage to be planned, with the steps that use its control networks, and the text of Redux and of regions."""
    from mezzotint.families.footprints import prompt_tokens

    settings, family = [control.settings for control in controls], family_of(sources.family)
    asked = dict.fromkeys(one.component for one in settings if one.is_asked_each_step)
    seen = (sources.components[one.component].config for one in settings if one.kind == "redux")
    text = regions * prompt_tokens(sources) + max(map(image_tokens, seen), default=0)  # several images are summed
    joint = any(part.class_name in JOINT for part in sources.components.values())
    return replace(
        task,
        control_shares={name: _share_of(settings, name, task.steps) for name in asked},
        more_text=text,
        more_positions=text * family.spec.patch**2 if joint and isinstance(family, FlowFamily) else 0,
    )


def _share_of(settings: Sequence[ControlSettings], component: str, steps: int) -> float:
    """The part of a stage's steps that use a network."""
    its = [one for one in settings if one.component == component]
    return sum(any(one.at_step(index, steps).weight for one in its) for index in range(steps)) / max(1, steps)


def controls_used(
    controls: Sequence[ControlRef],
    images: Sequence[FileUsed],
    masks: Sequence[FileUsed | None],
    networks: Callable[[Preprocess], Sequence[Path]],
    cancelled: IsCancelled,
) -> tuple[ControlUsed, ...]:
    """What was used of each; raises ModelRefused if a ControlNet is another than it was.

    `networks`: folders of those that prepare images in a way.
    """
    each = zip(controls, images, masks, strict=True)
    return tuple(
        replace(_used(control, image, mask, cancelled), networks=_files_of(networks(control.preprocess), cancelled))
        for control, image, mask in each
    )


def _files_of(networks: Sequence[Path], cancelled: IsCancelled) -> tuple[FileUsed, ...]:
    cache = paths.cache_folder() / "fingerprints.json"
    files = (file for folder in networks for file in network_files(folder, "transformers"))
    return tuple(fingerprint(file, cache, cancelled=cancelled) for file in files)


def _used(control: ControlRef, image: FileUsed, mask: FileUsed | None, cancelled: IsCancelled) -> ControlUsed:
    used, encoder = _files_used(control, cancelled) if control.model else (None, None)
    return ControlUsed(
        file=used,
        encoder=encoder,
        mask=mask,
        image=image,
        weight=control.weight,
        start=control.start,
        end=control.end,
        type=control.type,
        preprocess=control.preprocess,
    )


def _files_used(control: ControlRef, cancelled: IsCancelled) -> tuple[FileUsed, FileUsed | None]:
    """The network's first file, and that of its image encoder if it has one."""
    files = control_files(Path(control.model), control.encoder)
    shards = len(network_files(Path(control.model)))
    used, *encoder = (
        fingerprint(file, paths.cache_folder() / "fingerprints.json", cancelled=cancelled)
        for file in (files[0], *files[shards:])
    )
    if control.sha256 is not None and control.sha256 != used.sha256:
        raise ModelRefused(
            f"{plain(control.model, 300)}: the ControlNet has changed since it was used (sha256 {used.sha256[:12]}, "
            f"was {plain(control.sha256[:12])}); give it again with --control"
        )
    if control.encoder_sha256 is not None and [one.sha256 for one in encoder] != [control.encoder_sha256]:
        raise ModelRefused(
            f"{plain(control.model, 300)}: its image encoder {plain(control.encoder, 200)} has changed since it was "
            "used; give it again with --control"
        )
    return used, encoder[0] if encoder else None
