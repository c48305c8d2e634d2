"""Whether a control network was made for a model, and the model's components with it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mezzotint.checkpoints.plain_text import plain
from mezzotint.families.control.checkpoint import ControlCheckpoint
from mezzotint.families.control.config import control_config
from mezzotint.families.control.ip_adapter import cross_attention_widths, ip_adapter_config
from mezzotint.families.control.redux import redux_config
from mezzotint.families.control.settings import ControlKind
from mezzotint.families.control.shapes import Config, NamedShapes
from mezzotint.families.control.t2i_adapter import t2i_adapter_config, why_other_features
from mezzotint.families.control.transformer_config import flux_config, qwen_config, why_other_transformer
from mezzotint.families.control.z_image import why_other_z_image, z_image_config
from mezzotint.families.family import ComponentSource, ModelSources

_MADE_FOR = {768: "Stable Diffusion 1.5", 1024: "Stable Diffusion 2", 1280: "the SDXL refiner", 2048: "SDXL"}
_TITLES = {"sd15": "Stable Diffusion 1.5", "sdxl": "SDXL"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A kind of control network."""

    component: str  # name in the model; further ones are numbered
    denoiser: str = "unet"  # beside which it works
    family: str | None = None  # None: any with that denoiser
    made_for: str = "a U-Net, of SDXL or SD 1.5"
    library: str
    config: Callable[[ControlCheckpoint, ModelSources], Config]  # beside this model
    difference: Callable[[Config, Mapping[str, object], ModelSources], str | None]  # from what fits that
    text_width: str | None  # in its configuration; None: it sees no text


def is_control(component: str) -> bool:
    """Whether a component is a control network."""
    return kind_of_component(component) is not None


def kind_of_component(component: str) -> ControlKind | None:
    """The kind of a component that is a control network."""
    base = re.sub(r"_\d+$", "", component)
    return next((kind for kind, known in _KINDS.items() if known.component == base), None)


def with_control(sources: ModelSources, checkpoint: ControlCheckpoint) -> tuple[ModelSources, str]:
    """The model with the network as a further component, and that one's name: the same for the same files."""
    kind = _KINDS[checkpoint.kind]
    known = [source for name, source in sources.components.items() if kind_of_component(name) == checkpoint.kind]
    same = next((source.name for source in known if source.files == checkpoint.files), None)
    if same is not None:
        return sources, same
    name = f"{kind.component}_{len(known) + 1}" if known else kind.component
    config = kind.config(checkpoint, sources)
    source = ComponentSource(
        name=name,
        library=kind.library,
        class_name=str(config["_class_name"]),
        config=config,
        folder=None,
        files=checkpoint.files,
        bytes=checkpoint.bytes,
        replaced=checkpoint.original is None,
        original=checkpoint.original,
    )
    return replace(sources, components={**sources.components, name: source}), name


def why_not(checkpoint: ControlCheckpoint, sources: ModelSources, model: str) -> str | None:
    """Why a model cannot use a control network, as a clause; None if it can. Raises ModelRefused if damaged."""
    kind = _KINDS[checkpoint.kind]
    denoiser = sources.components.get(kind.denoiser)
    if denoiser is None or kind.family not in (None, sources.family):
        return f"{plain(model, 100)} is of the family {sources.family}, and it is for {kind.made_for}"
    if sources.detected.references:
        return f"{plain(model, 100)} edits reference images, and it is for models that do not"
    config = kind.config(checkpoint, sources)
    wanted, found = config.get(kind.text_width or ""), denoiser.config.get("cross_attention_dim")
    if kind.text_width and wanted != found:
        made_for = _MADE_FOR.get(wanted) if isinstance(wanted, int) else None
        is_a = f"is {_TITLES.get(sources.family, sources.family)}"
        if made_for is not None and made_for != _TITLES.get(sources.family):
            return f"it was made for {made_for}, but {plain(model, 100)} {is_a}"
        return f"it takes text of width {wanted}, but {plain(model, 100)} gives {found}"
    different = kind.difference(config, denoiser.config, sources)
    return None if different is None else f"it was made for another model than {plain(model, 100)}: {different}"


def _difference(config: Config, unet: Mapping[str, object], sources: ModelSources) -> str | None:
    names = ("block_out_channels", "layers_per_block", "projection_class_embeddings_input_dim")
    for name in names:
        if _plain(config.get(name)) != _plain(unet.get(name)):
            return f"its {name} is {_plain(config.get(name))}, the model's {_plain(unet.get(name))}"
    if config["in_channels"] != sources.latent_channels:
        return f"it takes latents of {config['in_channels']} channels, the model has {sources.latent_channels}"
    channels = config["conditioning_embedding_out_channels"]
    factor = 2 ** (len(channels) - 1) if isinstance(channels, list) else 0
    if factor != sources.vae_factor:
        return f"it has {factor} pixels per latent, the model {sources.vae_factor}"
    if config["conditioning_channels"] != 3:
        return f"it takes images of {config['conditioning_channels']} channels; those given have 3"
    return None


def _plain(value: object) -> object:
    return list(value) if isinstance(value, list | tuple) else value


def _control_config(checkpoint: ControlCheckpoint, sources: ModelSources) -> Config:
    return control_config(checkpoint, sources.components["unet"].config)


def _t2i_adapter_config(checkpoint: ControlCheckpoint, sources: ModelSources) -> Config:
    shapes = NamedShapes(checkpoint.shapes, checkpoint.path, "a T2I-Adapter")
    return t2i_adapter_config(shapes, sources.vae_factor)


def _other_features(config: Config, unet: Mapping[str, object], _: ModelSources) -> str | None:
    return why_other_features(config, unet)


def _of_transformer(
    read: Callable[[NamedShapes, Mapping[str, object]], Config], what: str
) -> Callable[[ControlCheckpoint, ModelSources], Config]:
    """How a ControlNet's configuration is read, beside that of the transformer it is for."""

    def config(checkpoint: ControlCheckpoint, sources: ModelSources) -> Config:
        shapes = NamedShapes(checkpoint.shapes, checkpoint.path, f"a ControlNet of {what}")
        return read(shapes, sources.components["transformer"].config)

    return config


def _other_transformer(config: Config, transformer: Mapping[str, object], _: ModelSources) -> str | None:
    return why_other_transformer(config, transformer)


def _z_image_config(checkpoint: ControlCheckpoint, sources: ModelSources) -> Config:
    shapes = NamedShapes(checkpoint.shapes, checkpoint.path, "a ControlNet of Z-Image")
    return z_image_config(shapes, checkpoint.config, sources.components["transformer"].config)


def _other_z_image(config: Config, transformer: Mapping[str, object], _: ModelSources) -> str | None:
    return why_other_z_image(config, transformer)


def _ip_adapter_config(checkpoint: ControlCheckpoint, _: ModelSources) -> Config:
    shapes = NamedShapes(checkpoint.shapes, checkpoint.path, "an IP-Adapter")
    return ip_adapter_config(shapes, dict(checkpoint.config))


def _redux_config(checkpoint: ControlCheckpoint, _: ModelSources) -> Config:
    return redux_config(NamedShapes(checkpoint.shapes, checkpoint.path, "Redux"), dict(checkpoint.config))


def _other_words(config: Config, transformer: Mapping[str, object], sources: ModelSources) -> str | None:
    if sources.detected.guidance == "cfg":
        return "it is for models with embedded guidance, or none"
    wanted = transformer.get("joint_attention_dim")
    return None if config["words"] == wanted else f"it makes text of width {config['words']}, the model takes {wanted}"


def _other_layers(config: Config, unet: Mapping[str, object], _: ModelSources) -> str | None:
    wanted, found = cross_attention_widths(unet), config["widths"]
    if wanted == found:
        return None
    numbers = (len(each) if isinstance(each, list) else 0 for each in (found, wanted))
    return "it has keys and values for {} layers, the model {}, or of other widths".format(*numbers)


_KINDS: Mapping[ControlKind, _Kind] = {
    "controlnet": _Kind(
        component="controlnet",
        library="diffusers",
        config=_control_config,
        difference=_difference,
        text_width="cross_attention_dim",
    ),
    "t2i-adapter": _Kind(
        component="t2i_adapter",
        library="diffusers",
        config=_t2i_adapter_config,
        difference=_other_features,
        text_width=None,
    ),
    "flux-controlnet": _Kind(
        component="flux_controlnet",
        library="diffusers",
        config=_of_transformer(flux_config, "FLUX.1"),
        difference=_other_transformer,
        text_width=None,
        denoiser="transformer",
        family="flux",
        made_for="FLUX.1",
    ),
    "qwen-controlnet": _Kind(
        component="qwen_controlnet",
        library="diffusers",
        config=_of_transformer(qwen_config, "Qwen-Image"),
        difference=_other_transformer,
        text_width=None,
        denoiser="transformer",
        family="qwen-image",
        made_for="Qwen-Image",
    ),
    "z-image-controlnet": _Kind(
        component="z_image_controlnet",
        library="diffusers",
        config=_z_image_config,
        difference=_other_z_image,
        text_width=None,
        denoiser="transformer",
        family="z-image",
        made_for="Z-Image",
    ),
    "redux": _Kind(
        component="redux",
        library="mezzotint",
        config=_redux_config,
        difference=_other_words,
        text_width=None,
        denoiser="transformer",
        family="flux",
        made_for="FLUX.1",
    ),
    "ip-adapter": _Kind(
        component="ip_adapter",
        library="mezzotint",
        config=_ip_adapter_config,
        difference=_other_layers,
        text_width="words",
    ),
}
