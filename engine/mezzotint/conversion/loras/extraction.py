"""Extracts a LoRA from a finetuned model: low-rank approximations of how its weights differ from its base model's.

Both models stay in their files; a layer of each is in memory at a time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from mezzotint.checkpoints.plain_text import plain
from mezzotint.conversion.loras.rewriting import WrittenLora
from mezzotint.errors import Cancelled, ModelRefused, UsageError
from mezzotint.families.family import LoadedModel, ModelSources
from mezzotint.families.loading.networks import load_components
from mezzotint.families.lora.base_weights import base_weight
from mezzotint.families.lora.description import Description
from mezzotint.families.lora.dialects import DIALECTS
from mezzotint.families.lora.factors import LoraFactors
from mezzotint.families.lora.low_rank import Approximation, approximated, share
from mezzotint.families.lora.writing import check_output, write_lora
from mezzotint.quantization.branched import branchable_layers

_TEXT_ENCODERS = ("CLIPTextModel", "CLIPTextModelWithProjection")  # finetunes leave larger ones as they were


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedLora(WrittenLora):
    """What was extracted. `left_out`: changed tensors that no LoRA can have, such as norms and biases."""

    left_out: int


@dataclass(slots=True, kw_only=True)
class _Found:
    factors: dict[str, dict[str, LoraFactors]] = field(default_factory=dict)
    energy: float = 0.0
    kept: float = 0.0
    left_out: int = 0


def extract_lora(
    tuned: ModelSources,
    base: ModelSources,
    output: Path,
    *,
    rank: int,
    dtype: torch.dtype = torch.float16,
    device: torch.device | None = None,
    on_layer: Callable[[int, int], None] = lambda _, __: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> ExtractedLora:
    """Write the LoRA of that rank by which `tuned` differs from `base`; layers that are equal are left out.

    `device` computes; None: the CPU. `on_layer(done, total)` tells the progress. Raises ModelRefused for models of
    different kinds or with the same weights, UsageError if the output exists, Cancelled between layers.
    """
    check_output(output)
    if tuned.family != base.family:
        raise UsageError(
            f"{_path(tuned)} is of the family {tuned.family}, {_path(base)} of {base.family}; a LoRA is extracted from "
            "two models of the same"
        )
    models = _on_disk(tuned, base, cancelled)
    found = _Found()
    total = sum(len(list(branchable_layers(network))) for network in models[1].networks.values())
    for done, (component, name, update) in enumerate(_differences(*models), 1):
        if cancelled():
            raise Cancelled(f"Stopped while {plain(output.name)} was extracted")
        if update is not None:
            _add(found, component, name, approximated(update if device is None else update.to(device), rank), dtype)
        on_layer(done, total)
    if not found.factors:
        raise ModelRefused(f"{_path(tuned)} and {_path(base)} have the same weights; there is nothing to extract")
    found.left_out = _others_changed(*models)
    native = base.detected.defaults
    about = Description(title=output.stem, resolution=(native.width, native.height))
    write_lora(output, found.factors, base.family, about, dtype=dtype)
    return _report(output, found)


def _report(output: Path, found: _Found) -> ExtractedLora:
    ranks = [each.rank for layers in found.factors.values() for each in layers.values()]
    return ExtractedLora(
        output=str(output),
        layers=len(ranks),
        lowest_rank=min(ranks),
        highest_rank=max(ranks),
        bytes=output.stat().st_size,
        kept=share(found.kept, found.energy),
        left_out=found.left_out,
    )


def _add(found: _Found, component: str, name: str, made: Approximation, dtype: torch.dtype) -> None:
    down, up = (factor.to("cpu", dtype) for factor in (made.factors.down, made.factors.up))
    small = LoraFactors(down=down, up=up, alpha=made.factors.alpha)
    found.factors.setdefault(component, {})[name] = small
    found.energy += made.energy
    found.kept += made.kept


def _on_disk(tuned: ModelSources, base: ModelSources, cancelled: Callable[[], bool]) -> tuple[LoadedModel, LoadedModel]:
    """Both models with the networks that may differ, whose weights stay in their files."""
    names = [
        name
        for name, source in base.components.items()
        if name in DIALECTS[base.family].prefixes
        and name in tuned.components
        and source.files != tuned.components[name].files
        and (not name.startswith("text_encoder") or source.class_name in _TEXT_ENCODERS)
    ]
    models = tuple(
        LoadedModel(sources=sources, device=torch.device("cpu"), dtype=torch.float32, from_disk=frozenset(names))
        for sources in (tuned, base)
    )
    for model in models:
        load_components(model, names, on_bytes=lambda _, __: None, cancelled=cancelled, notify=lambda _: None)
    return models[0], models[1]


def _differences(tuned: LoadedModel, base: LoadedModel) -> Iterator[tuple[str, str, Tensor | None]]:
    """The update of each layer, or None if there is none; raises ModelRefused if the networks do not match."""
    for component, network in base.networks.items():
        theirs = dict(branchable_layers(tuned.networks[component]))
        for name, _ in branchable_layers(network):
            if name not in theirs:
                raise _other_kind(tuned, base, f"{component} of the first has no {name}")
            update = _weight(tuned, component, name).float()
            weight = _weight(base, component, name)
            if update.shape != weight.shape:
                shapes = f"{tuple(update.shape)} and {tuple(weight.shape)}"
                raise _other_kind(tuned, base, f"{name} of {component} has the shapes {shapes}")
            update = update - weight
            if not bool(torch.isfinite(update).all()):
                raise ModelRefused(
                    f"{_path(tuned.sources)} or {_path(base.sources)}: {name} of {component} holds numbers that are "
                    "not finite; the file is damaged, download it again"
                )
            yield component, name, update if bool(update.any()) else None


def _others_changed(tuned: LoadedModel, base: LoadedModel) -> int:
    """Number of other parameters that differ."""
    count = 0
    for component, network in base.networks.items():
        weights = {f"{name}.weight" for name, _ in branchable_layers(network)}
        for name in dict(network.named_parameters()).keys() - weights:
            count += not torch.equal(_parameter(tuned, component, name), _parameter(base, component, name))
    return count


def _parameter(model: LoadedModel, component: str, name: str) -> Tensor:
    source = model.on_disk.get(component, {}).get(name)
    network: nn.Module = model.networks[component]
    return network.get_parameter(name) if source is None else source.tensor()


def _weight(model: LoadedModel, component: str, name: str) -> Tensor:
    return base_weight(model.networks[component], name, model.on_disk.get(component, {})).detach()


def _other_kind(tuned: LoadedModel, base: LoadedModel, how: str) -> ModelRefused:
    return ModelRefused(f"{_path(tuned.sources)} and {_path(base.sources)} are models of different kinds: {how}")


def _path(sources: ModelSources) -> str:
    return plain(sources.checkpoint.path, 300)
