"""The components of a checkpoint as a family names them, whatever the layout on disk."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mezzotint.checkpoints.folder import Component, FolderCheckpoint
from mezzotint.checkpoints.foreign_kind import is_pickle_name, pickle_advice
from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.weight_file import weight_header, weight_specs
from mezzotint.errors import ModelRefused
from mezzotint.families.autoencoder_space import latent_layout
from mezzotint.families.detected import Detected
from mezzotint.families.family import ComponentSource, ModelSources
from mezzotint.families.loading.original_names import layout_of, place
from mezzotint.families.loading.original_unet import Config

_RENAMED_CLASSES = {
    "Transformer2DModel": "PixArtTransformer2DModel",  # in PixArt's first files
    "Gemma2ForCausalLM": "Gemma2Model",  # the language model head is not needed
    "Qwen3ForCausalLM": "Qwen3Model",
}
_READERS = {  # language models inside vision-language models
    "Qwen2_5_VLForConditionalGeneration": "Qwen2_5_VLTextModel",
    "Qwen3VLForConditionalGeneration": "Qwen3VLTextModel",
    "Qwen3VLModel": "Qwen3VLTextModel",
}
_NOT_OF_READERS = {"vision_config", "text_config", "architectures", "model_type"}


def folder_sources(checkpoint: FolderCheckpoint, detected: Detected, needed: Sequence[str]) -> ModelSources:
    """The components of a diffusers folder; raises ModelRefused if a needed one is missing."""
    absent = [name for name in (*needed, "scheduler") if name not in checkpoint.components]
    if absent:
        raise ModelRefused(f"{checkpoint.path}: the folder lacks {', '.join(absent)}; the download is incomplete")
    components = {name: _component(checkpoint.components[name]) for name in needed}
    for source in components.values():
        if not source.files and not source.name.startswith("tokenizer"):
            raise ModelRefused(f"{checkpoint.path}: {source.name} has no safetensors weights; download it again")
    _check_fit(checkpoint, components)
    return ModelSources(
        family=detected.family,
        detected=detected,
        checkpoint=checkpoint,
        components=components,
        scheduler=checkpoint.components["scheduler"].config,
        settings=checkpoint.options,
    )


def _check_fit(checkpoint: FolderCheckpoint, components: Mapping[str, ComponentSource]) -> None:
    """Raise ModelRefused for components of different models, which would otherwise fail only after minutes of work."""
    vae = components["vae"]
    layout = latent_layout({**vae.config, "_class_name": vae.class_name})
    channels = layout.channels
    for name in ("unet", "transformer"):
        found = components[name].config.get("in_channels", 4) if name in components else channels
        # Latents may be in 2x2 patches, or have a control image's, or a mask and a masked image's, beside them.
        beside = (2 * channels + 1, 8 * channels, 4 * (2 * channels + layout.factor**2))
        if found not in (channels, 4 * channels, *beside):
            raise ModelRefused(
                f"{checkpoint.path}: {name} takes {found} channels, its vae makes {channels}; the parts belong to "
                "different models"
            )


def single_file_sources(
    checkpoint: FileCheckpoint,
    detected: Detected,
    *,
    configs: Mapping[str, Config],
    tokenizers: Mapping[str, Mapping[str, str]],
    settings: Mapping[str, object],
) -> ModelSources:
    """The components of a single-file checkpoint with these configurations; tokenizers, absent there, are bundled."""
    sizes = _bytes_by_component(checkpoint.header)
    components = {
        name: ComponentSource(
            name=name,
            library="transformers" if name.startswith("text_encoder") else "diffusers",
            class_name=_class_of(config),
            config=config,
            folder=None,
            files=(checkpoint.path,),
            bytes=sizes.get(name, 0),
        )
        for name, config in configs.items()
        if name != "scheduler"
    }
    for name, said in tokenizers.items():
        if name.replace("tokenizer", "text_encoder") in components:
            components[name] = ComponentSource(
                name=name,
                library="transformers",
                class_name="CLIPTokenizer",
                config=said,
                folder=None,
                files=(),
                bytes=0,
            )
    return ModelSources(
        family=detected.family,
        detected=detected,
        checkpoint=checkpoint,
        components=components,
        scheduler=configs["scheduler"],
        settings=settings,
    )


def _class_of(config: Mapping[str, object]) -> str:
    architectures = config.get("architectures")
    return str(architectures[0] if isinstance(architectures, list) else config["_class_name"])


def _bytes_by_component(header: Header) -> dict[str, int]:
    layout = layout_of(header.tensors)
    sizes: dict[str, int] = {}
    for name, tensor in header.tensors.items():
        for component in {part.component for part in place(name, layout)}:
            sizes[component] = sizes.get(component, 0) + tensor.end - tensor.start
    return sizes


def tensor_bytes(header: Header) -> int:
    """Bytes of a file's tensors, without the header."""
    return sum(tensor.end - tensor.start for tensor in header.tensors.values())


def with_weights(sources: ModelSources, component: str, path: Path) -> ModelSources:
    """Replace one network's weights by another file; raises ModelRefused if that is not a weight file."""
    if is_pickle_name(path):
        raise ModelRefused(f"{plain(path, 300)}: {pickle_advice()}")
    size = sum(tensor.bytes for tensor in weight_specs(path).values())
    source = replace(sources.components[component], files=(path,), bytes=size, replaced=True)
    return replace(sources, components={**sources.components, component: source})


def _component(component: Component) -> ComponentSource:
    class_name, config = _class_and_config(component)
    return ComponentSource(
        name=component.name,
        library=component.library,
        class_name=class_name,
        config=config,
        folder=component.folder,
        files=component.files,
        bytes=sum(tensor_bytes(weight_header(path)) for path in component.files),
    )


def _class_and_config(component: Component) -> tuple[str, Mapping[str, object]]:
    """Class and config of the network to build: for a known vision-language model, its language model."""
    reader = _READERS.get(component.class_name)
    if reader is None:
        return _RENAMED_CLASSES.get(component.class_name, component.class_name), component.config
    own = component.config.get("text_config")
    settings = own if isinstance(own, Mapping) else component.config  # older files are not nested
    return reader, {key: value for key, value in settings.items() if key not in _NOT_OF_READERS}
