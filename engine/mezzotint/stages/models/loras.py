"""The LoRAs of a job: which stage's model gets which, and which were used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint import paths
from mezzotint.checkpoints.fingerprint import fingerprint, tensors_sha256
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.families.family import LoadedModel
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.lora.file import LoraFile, open_lora
from mezzotint.parsed import enumerated
from mezzotint.protocol import GenerateRequest, IsCancelled, LoraRef, LoraUsed
from mezzotint.stages.setup import CascadeSetup, StageSetup

if TYPE_CHECKING:
    from mezzotint.families.lora.adapters import FittingLora
    from mezzotint.families.lora.matching import Fit, LayerIndex
    from mezzotint.memory.host import Source

Notify = Callable[[str, str], None]  # a notice's code and message
FindSources = Callable[[LoadedModel, str], "Mapping[str, Source]"]  # of the weights of a model's component
_Chosen = tuple[LoraRef, "FittingLora"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """An opened LoRA file."""

    file: LoraFile
    used: LoraUsed  # with a placeholder weight


class JobLoras:
    """The LoRAs of a job: files are opened and checked at once, and matched when the models are in memory."""

    def __init__(self, request: GenerateRequest, setup: CascadeSetup, cancelled: IsCancelled) -> None:
        self._setup = setup
        self._own = [[one.lora for one in stage.controls if one.lora is not None] for stage in setup.stages]
        said = (request.loras if stage.loras is None else stage.loras for stage in request.cascade.stages)
        self._asked = [(*each, *own) for each, own in zip(said, self._own, strict=True)]
        self._shared = [stage.loras is None for stage in request.cascade.stages]
        self._opened: dict[str, _Opened] = {}
        self._chosen: list[list[_Chosen]] = []
        for ref in dict.fromkeys((*request.loras, *(ref for refs in self._asked for ref in refs))):
            if ref.path not in self._opened:
                controls = any(ref in own for own in self._own)
                self._opened[ref.path] = _open(ref.path, setup, cancelled, controls=controls)
            _compare(ref, self._opened[ref.path].used)

    def fit_to(
        self, models: Sequence[LoadedModel], notify: Notify, cancelled: IsCancelled, sources: FindSources
    ) -> None:
        """Read the LoRAs that fit; raises ModelRefused for one that fits no stage, or not the one it was given for."""
        if not self._opened:
            self._chosen = [[] for _ in models]
            return
        refusals: dict[str, dict[str, str]] = {}  # by path and model
        self._chosen = []
        for number, (stage, model) in enumerate(zip(self._setup.stages, models, strict=True)):
            chosen = []
            index = _index(stage, model)
            for ref in self._asked[number]:
                fitting, why = self._fit(ref, index, stage)
                if why is None:
                    chosen.append((ref, fitting))
                else:
                    refusals.setdefault(ref.path, {})[stage.found.info.id] = why
                    if not self._shared[number] or ref in self._own[number]:
                        raise _misfit(ref, why)
            self._chosen.append(chosen)
        self._report(refusals, notify)
        _read_all(models, self._chosen, cancelled, sources)

    def apply(self, stage: int, model: LoadedModel) -> None:
        """Apply the stage's LoRAs to its model, and no others."""
        if model.loras is None and model.shares:  # a model that shares the networks may have left LoRAs in them
            from mezzotint.families.lora.adapters import Adapters

            model.loras = Adapters(model.networks, model.device, at_rest=model.home is None)
        if model.loras is not None:
            if model.shares:
                model.loras.forget()
            model.loras.apply([(fitting, ref.weight) for ref, fitting in self._chosen[stage]])

    def used(self, stage: int) -> tuple[LoraUsed, ...]:
        """The LoRAs used by the stage's model, without control LoRAs."""
        chosen = (ref for ref, _ in self._chosen[stage] if ref not in self._own[stage])
        return tuple(replace(self._opened[ref.path].used, weight=ref.weight) for ref in chosen)

    def _fit(self, ref: LoraRef, index: "LayerIndex", stage: StageSetup) -> "tuple[FittingLora, str | None]":
        from mezzotint.families.lora.adapters import FittingLora
        from mezzotint.families.lora.matching import fit, why_not

        file = self._opened[ref.path].file
        found = fit(file, index)
        return FittingLora(file=file, fit=found), why_not(file, found, stage.found.info.id)

    def _report(self, refusals: dict[str, dict[str, str]], notify: Notify) -> None:
        fitting = {ref.path: one for chosen in self._chosen for ref, one in chosen}
        for path, by_model in refusals.items():
            if path not in fitting:
                raise _misfit(LoraRef(path=path), next(iter(by_model.values())))
            for model, why in by_model.items():
                notify("lora_left_out", f"{plain(path, 200)} is left out for {plain(model, 100)}: {why}")
        for path, one in fitting.items():
            if left := _left_out(one.file, one.fit):
                notify("lora_partly_used", f"{plain(path, 200)}: {left}")


def _open(path: str, setup: CascadeSetup, cancelled: IsCancelled, *, controls: bool) -> _Opened:
    file = open_lora(Path(path), controls=controls)
    families = {stage.family.name for stage in setup.stages}
    if file.base is not None and families.isdisjoint(file.base.families):
        models = ", ".join(dict.fromkeys(plain(stage.found.info.id, 100) for stage in setup.stages))
        raise ModelRefused(
            f"{plain(path, 300)}: the LoRA seems to be for {file.base.words}, but {models} is of the family "
            f"{' and '.join(sorted(families))}; use one that was made for it"
        )
    used = LoraUsed(
        file=fingerprint(Path(path), paths.cache_folder() / "fingerprints.json", cancelled=cancelled),
        weight=1.0,
        tensors_sha256=tensors_sha256(file.header, cancelled=cancelled),
    )
    return _Opened(file=file, used=used)


def _compare(ref: LoraRef, used: LoraUsed) -> None:
    if ref.sha256 is not None and ref.sha256 != used.file.sha256:
        raise ModelRefused(
            f"{plain(ref.path, 300)}: the LoRA has changed since it was used (sha256 {used.file.sha256[:12]}, "
            f"was {plain(ref.sha256[:12])}); give it again with --lora"
        )


def _index(stage: StageSetup, model: LoadedModel) -> "LayerIndex":
    from mezzotint.families.lora.matching import LayerIndex

    family = stage.family
    original = family.original if isinstance(family, FlowFamily) else None
    if original is not None:
        original = original.of(model.sources.components[family.denoiser_component].config)
    return LayerIndex(model.networks, family.denoiser_component, original)


def _read_all(
    models: Sequence[LoadedModel],
    chosen: Sequence[Sequence[_Chosen]],
    cancelled: IsCancelled,
    sources: FindSources,
) -> None:
    """Read the LoRAs of all stages that share a model together, so that none is dropped between two stages."""
    from mezzotint.families.lora.adapters import Adapters

    for model in {id(model): model for model in models}.values():
        of_model = [
            fitting for other, some in zip(models, chosen, strict=True) if other is model for _, fitting in some
        ]
        if of_model and model.loras is None:
            model.loras = Adapters(model.networks, model.device, at_rest=model.home is None)
        if model.loras is not None:
            model.loras.hold(of_model, cancelled, partial(sources, model))


def _left_out(file: LoraFile, found: "Fit") -> str:
    parts = []
    if found.missing:
        parts.append(
            f"{len(found.missing)} of its {len(file.layers)} layers are not in the model, the first is "
            f"'{plain(found.missing[0].layer, 80)}'"
        )
    if found.misshapen:
        layer, target = found.misshapen[0]
        parts.append(
            f"{len(found.misshapen)} of its layers have another shape than in the model, such as "
            f"'{plain(layer.layer, 80)}' for {layer.meant_for}, which has {target.shape}"
        )
    unused = (*file.unknown, *found.left_out)
    if unused:
        parts.append(f"{len(unused)} of its tensors are of no use here: {plain(enumerated(unused), 500)}")
    left = [f"{'; '.join(parts)}; they are left out"] if parts else []
    left += [
        f"'{plain(layer.layer, 80)}' is applied to the first {layer.shape[1]} of {target.shape[1]} inputs"
        for layer, target in found.wider
    ]
    return "; ".join(left)


def _misfit(ref: LoraRef, why: str) -> ModelRefused:
    return ModelRefused(f"{plain(ref.path, 300)}: {why}; use a LoRA that was made for this model")
