"""The components of a flow model in single files: one per network, or all in one."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.errors import ModelRefused
from mezzotint.families.autoencoder_space import latent_layout
from mezzotint.families.detected import Detected
from mezzotint.families.family import ComponentSource, ModelSources, Original
from mezzotint.families.loading.stored_layers import logical_header
from mezzotint.families.tokenizers.gemma import find_pieces

if TYPE_CHECKING:
    from mezzotint.families.flow.original import OriginalNetwork
    from mezzotint.families.flow.parts import PartNeeded
    from mezzotint.families.flow.spec import FlowSpec


class FiledFamily(Protocol):
    """The attributes of a family used here."""

    spec: "FlowSpec"
    denoiser_component: str
    original: "OriginalNetwork | None"
    namings: "tuple[OriginalNetwork, ...]"
    needs: "tuple[PartNeeded, ...]"
    bundled_tokenizers: Mapping[str, str]
    pad_tokens: Mapping[str, str]
    stored_tokenizers: Mapping[str, str]


def file_sources(family: FiledFamily, checkpoint: FileCheckpoint, detected: Detected) -> ModelSources:
    """Components of a model by its transformer's file; raises ModelRefused, naming what is missing and its source."""
    if family.original is None:
        raise ModelRefused(f"{checkpoint.path}: {family.spec.title} is read from diffusers folders, not from one file")
    denoiser = denoiser_in(family, checkpoint.header)
    if denoiser is None:
        raise ModelRefused(f"{plain(checkpoint.path, 300)}: no transformer of {family.spec.title}")
    components = {family.denoiser_component: denoiser}
    for needed in family.needs:
        part = _needed(needed, checkpoint, denoiser)
        if part is not None:
            components[needed.component] = part
    for name, class_name in {**family.bundled_tokenizers, **family.stored_tokenizers}.items():
        encoder = components.get(name.replace("tokenizer", "text_encoder"))
        if encoder is not None:
            components[name] = _tokenizer(family, name, class_name, encoder)
    return ModelSources(
        family=family.spec.name,
        detected=detected,
        checkpoint=checkpoint,
        components=components,
        scheduler=family.spec.scheduler[detected.variant],
        settings={},
    )


def _tokenizer(family: FiledFamily, name: str, class_name: str, encoder: ComponentSource) -> ComponentSource:
    """The tokenizer of a text encoder: bundled, or stored with it; raises ModelRefused if it should be and is not."""
    config = {"pad_token": family.pad_tokens[name]} if name in family.pad_tokens else {}
    stored = name in family.stored_tokenizers
    return ComponentSource(
        name=name,
        library="transformers",
        class_name=class_name,
        config={"vocab_size": encoder.config["vocab_size"]} if stored else config,
        folder=None,
        files=(),
        bytes=0,
        pieces=find_pieces(weight_header(encoder.files[0])) if stored else None,
    )


def denoiser_in(family: FiledFamily, header: Header) -> ComponentSource | None:
    """The transformer of a family in a file, or None if absent; raises ModelRefused if its shapes are invalid."""
    networks = () if family.original is None else (family.original, *family.namings)
    found = (part_of_file(family.denoiser_component, network, header) for network in networks)
    return next((part for part in found if part is not None), None)


def part_of_file(component: str, network: "OriginalNetwork", header: Header) -> ComponentSource | None:
    """A network in a file, or None if absent; raises ModelRefused if its shapes are invalid."""
    whole = logical_header(header)
    prefix = network.prefix_in(whole.tensors)
    if prefix is None or not _is_of(header, network.architectures):
        return None
    specs = {name.removeprefix(prefix): spec for name, spec in whole.tensors.items() if name.startswith(prefix)}
    try:
        config = network.config({name: spec.shape for name, spec in specs.items()})
    except (KeyError, IndexError, ValueError, ZeroDivisionError) as error:
        raise ModelRefused(
            f"{plain(header.path, 300)}: not laid out as {network.name} is ({plain(error, 80)}); "
            "the file is damaged, or of another model"
        ) from None
    return ComponentSource(
        name=component,
        library=network.library,
        class_name=network.class_name,
        config=config,
        folder=None,
        files=(header.path,),
        bytes=sum(spec.end - spec.start for name, spec in header.tensors.items() if name.startswith(prefix)),
        original=Original(prefix=prefix, place=network.of(config).place),
    )


def part_needed(needed: "PartNeeded", header: Header) -> ComponentSource | None:
    """The needed network in any naming; None if the file does not contain it."""
    found = (part_of_file(needed.component, network, header) for network in needed.networks)
    return next((part for part in found if part is not None), None)


def fits(needed: "PartNeeded", part: ComponentSource, denoiser: ComponentSource) -> bool:
    """Whether a component's width is the one that the transformer takes."""
    if part.library == "transformers":
        return not needed.width or _own_width(part) == _width(needed, denoiser)
    channels = latent_layout({**part.config, "_class_name": part.class_name}).channels
    made = denoiser.config.get("out_channels", denoiser.config.get("in_channels"))
    return made in (channels, 4 * channels)


def usual_name(needed: "PartNeeded", denoiser: ComponentSource) -> str:
    """Usual file name of a component for this transformer."""
    width = denoiser.config.get(needed.width) if needed.width else None
    return next((name for wanted, name in needed.usual if wanted in (width, None)), needed.usual[0][1])


def _needed(needed: "PartNeeded", checkpoint: FileCheckpoint, denoiser: ComponentSource) -> ComponentSource | None:
    path = checkpoint.parts.get(needed.component, checkpoint.path)
    part = part_needed(needed, _header(path, checkpoint))
    name = usual_name(needed, denoiser)
    if part is None and needed.optional:
        return None
    if part is None:
        raise ModelRefused(
            f"{plain(checkpoint.path, 300)} is a transformer alone, and {needed.networks[0].name} was not found that "
            f"fits it: put {name} beside it, or into ComfyUI's folder for such files; get it from {needed.where}"
        )
    if not fits(needed, part, denoiser):
        width = f" of width {_own_width(part)}" if needed.width else ""
        wanted = f" one of width {_width(needed, denoiser)}:" if needed.width else " another:"
        raise ModelRefused(
            f"{plain(path, 300)} is {needed.networks[0].name}{width}, and this transformer takes{wanted} put {name} "
            f"beside it, or into ComfyUI's folder for such files; get it from {needed.where}"
        )
    return part


def _own_width(part: ComponentSource) -> object:
    """Width of a text encoder, which T5 stores under a different name."""
    return part.config.get("d_model", part.config.get("hidden_size"))


def _width(needed: "PartNeeded", denoiser: ComponentSource) -> object:
    """Text encoder width that the transformer takes; None if its configuration does not say."""
    whole = denoiser.config.get(needed.width)
    return int(whole * needed.share) if isinstance(whole, int) else None


def _is_of(header: Header, architectures: tuple[str, ...]) -> bool:
    return not architectures or header.metadata.get("general.architecture") in architectures


def _header(path: Path, checkpoint: FileCheckpoint) -> Header:
    return checkpoint.header if path == checkpoint.path else weight_header(path)
