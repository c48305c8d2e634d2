"""Whether a ControlNet was made for a model, and the model's components with it."""

from collections.abc import Mapping
from dataclasses import replace

from mezzotint.checkpoints.plain_text import plain
from mezzotint.families.control.checkpoint import ControlCheckpoint
from mezzotint.families.control.config import control_config
from mezzotint.families.family import ComponentSource, ModelSources

COMPONENT = "controlnet"

_MADE_FOR = {768: "Stable Diffusion 1.5", 1024: "Stable Diffusion 2", 1280: "the SDXL refiner", 2048: "SDXL"}
_TITLES = {"sd15": "Stable Diffusion 1.5", "sdxl": "SDXL"}


def is_control(component: str) -> bool:
    """Whether a component is a ControlNet."""
    return component == COMPONENT or component.startswith(f"{COMPONENT}_")


def with_control(sources: ModelSources, checkpoint: ControlCheckpoint) -> tuple[ModelSources, str]:
    """The model with the ControlNet as a further component, and that one's name: the same for the same files."""
    known = [source for name, source in sources.components.items() if is_control(name)]
    same = next((source.name for source in known if source.files == checkpoint.files), None)
    if same is not None:
        return sources, same
    name = f"{COMPONENT}_{len(known) + 1}" if known else COMPONENT
    config = control_config(checkpoint, sources.components["unet"].config)
    source = ComponentSource(
        name=name,
        library="diffusers",
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
    """Why a ControlNet cannot be used with a model, as a clause; None if it can. Raises ModelRefused if damaged."""
    unet = sources.components.get("unet")
    if unet is None:
        return f"{plain(model, 100)} is of the family {sources.family}, and it is for a U-Net, of SDXL or SD 1.5"
    config = control_config(checkpoint, unet.config)
    wanted, found = config.get("cross_attention_dim"), unet.config.get("cross_attention_dim")
    if wanted != found:
        made_for = _MADE_FOR.get(wanted) if isinstance(wanted, int) else None
        is_a = f"is {_TITLES.get(sources.family, sources.family)}"
        if made_for is not None and made_for != _TITLES.get(sources.family):
            return f"it was made for {made_for}, but {plain(model, 100)} {is_a}"
        return f"it takes text of width {wanted}, but {plain(model, 100)} gives {found}"
    different = _difference(config, unet.config, sources)
    return None if different is None else f"it was made for another model than {plain(model, 100)}: {different}"


def _difference(config: Mapping[str, object], unet: Mapping[str, object], sources: ModelSources) -> str | None:
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
