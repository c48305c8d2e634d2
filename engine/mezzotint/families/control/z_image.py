"""ControlNets of Z-Image (Fun ControlNet union): which there are, and how their transformer's layers serve them, too.

They embed image, text and time as their transformer does, with its own layers: files have only what is added.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mezzotint.checkpoints.plain_text import plain
from mezzotint.families.control.files import NetworkFiles
from mezzotint.families.control.shapes import Config, NamedShapes

REFINED_BY = "add_control_noise_refiner"  # which blocks refine the control image beside the noisy one; none in 1.0
_FIRST = "control_noise_refiner.0.before_proj.weight"
_PATCH = 4  # pixels of latents in a token
_SHARED = (
    *("t_scale", "t_embedder", "all_x_embedder", "cap_embedder", "rope_embedder", "noise_refiner", "context_refiner"),
    *("x_pad_token", "cap_pad_token"),
)


def refined_by(network: NetworkFiles) -> Config:
    """What only a file's numbers tell: 2.0 was trained without its refiner, whose first layer is still zero."""
    if _FIRST not in network.shapes:
        return {}
    from mezzotint.checkpoints.read import read_tensors

    ((_, first),) = read_tensors(network.files, on_bytes=lambda _: None, cancelled=lambda: False, names={_FIRST})
    return {REFINED_BY: "control_noise_refiner" if bool(first.any()) else "control_layers"}


def z_image_config(shapes: NamedShapes, said: Mapping[str, object], transformer: Mapping[str, object]) -> Config:
    """Configuration of its network beside this transformer; raises ModelRefused if its tensors are not laid out so.

    `said`: that of its folder, or what `refined_by` tells of its file. Its blocks follow every so many layers.
    """
    width, patch = shapes.of("control_all_x_embedder.2-1.weight", 2)
    head = shapes.of("control_layers.0.attention.norm_q.weight", 1)[0]
    blocks, layers = len(shapes.count(r"control_layers\.(\d+)\.")), transformer.get("n_layers")
    step = max(1, layers // blocks) if isinstance(layers, int) and blocks else 1
    refiners = transformer.get("n_refiner_layers", 2)
    return {
        "_class_name": "ZImageControlNetModel",
        "control_layers_places": said.get("control_layers_places") or [block * step for block in range(blocks)],
        "control_refiner_layers_places": [*range(refiners if isinstance(refiners, int) else 0)],
        "control_in_dim": patch // _PATCH,
        REFINED_BY: said.get(REFINED_BY),
        "dim": width,
        "n_refiner_layers": refiners,
        "n_heads": width // head,
        "n_kv_heads": width // head,
        "norm_eps": transformer.get("norm_eps", 1e-5),
        "qk_norm": True,
    }


def why_other_z_image(config: Config, transformer: Mapping[str, object]) -> str | None:
    """Why a transformer cannot take what it adds; None if it can."""
    for name in ("dim", "n_heads"):
        if config[name] != transformer.get(name):
            return f"its {name} is {config[name]}, the model's {transformer.get(name)}"
    places, layers = config["control_layers_places"], transformer.get("n_layers")
    known = range(layers) if isinstance(layers, int) else range(0)
    if not isinstance(places, list) or 0 not in places or any(place not in known for place in places):
        return f"it adds to the layers {plain(str(places), 100)}, the model has {layers}"
    return None


@contextmanager
def sharing(network: Any, transformer: Any) -> Iterator[None]:  # noqa: ANN401  diffusers has no types
    """Context manager: a ControlNet has the transformer's layers, but not as its submodules, which move with it."""
    before = {name: vars(network).get(name) for name in _SHARED}
    vars(network).update({name: getattr(transformer, name) for name in _SHARED})
    try:
        yield
    finally:
        vars(network).update(before)
