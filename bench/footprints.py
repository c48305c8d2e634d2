"""Generate the bundled memory footprints: `python bench/footprints.py [NAME ...]`.

Builds networks without weights from the configurations in `footprint_models.json` and of the bundled models, traces
them, and writes to `engine/mezzotint/memory/footprints/data`. Each takes seconds.
"""

import inspect
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.families.autoencoder_space import latent_layout
from mezzotint.families.detection import detect
from mezzotint.families.footprints import footprint_of, graph_of
from mezzotint.families.known import FLOW_FAMILIES, family_of
from mezzotint.memory.footprints.component import component_footprint, role_of
from mezzotint.memory.footprints.footprint import ComponentFootprint, ModelFootprint
from mezzotint.memory.footprints.footprint_json import component_to_json, model_to_json
from mezzotint.memory.footprints.forward_calls import Call
from mezzotint.memory.footprints.graph_hash import affects_memory, graph_hash
from mezzotint.paths import assets_folder
from mezzotint.protocol import GuidancePasses

RECIPES = Path(__file__).with_name("footprint_models.json")
DATA = Path(__file__).parents[1] / "engine" / "mezzotint" / "memory" / "footprints" / "data"
LARGEST = 100_000  # bytes per file


def main(names: list[str]) -> int:
    """Generate the named footprints, or all."""
    recipes = json.loads(RECIPES.read_text("utf-8"))
    write(DATA / "defaults.json", defaults_of(recipes["parts"]))
    parts: dict[str, ComponentFootprint] = {}
    for name, model in recipes["models"].items():
        if not names or name in names:
            started = time.monotonic()
            write(DATA / f"{name}.footprint.json", public_model(name, model, recipes["parts"], parts))
            print(f"{name}: {time.monotonic() - started:.1f} s", flush=True)
    for name, folder in recipes["bundled"].items():
        if not names or name in names:
            write(DATA / f"{name}.footprint.json", bundled_model(name, folder))
            print(name, flush=True)
    return 0


def public_model(
    name: str,
    model: Mapping[str, Any],
    recipes: Mapping[str, Any],
    known: dict[str, ComponentFootprint],
) -> dict[str, Any]:
    """Return the footprint of a public configuration as JSON; reuses components from `known`."""
    components, graphs = [], []
    vae = recipes[model["components"]["vae"]]
    latents = latent_layout({**vae["config"], "_class_name": vae["class"]})
    for component, part in model["components"].items():
        class_name, config = recipes[part]["class"], recipes[part]["config"]
        tokens = model["tokens"] if role_of(class_name) == "denoiser" or component in model["masked"] else 0
        key = graph_hash(class_name, config, tokens)
        if key not in known:
            known[key] = component_footprint(
                empty_network(class_name, config),
                name=component,
                class_name=class_name,
                tokens=tokens,
                call=call_of(model["family"], class_name, config, latents.channels),
            )
        shared, wide = model["shared"].get(component, ""), component in model["float32"]
        components.append(replace(known[key], name=component, shared=shared, float32=wide))
        graphs.append(key)
    footprint = ModelFootprint(
        id=name,
        vae_factor=latents.factor,
        text_tokens=model["tokens"],
        components=tuple(components),
        halves=halves_of(model),
        **{key: model[key] for key in ("family", "width", "height", "steps", "guided")},
    )
    return as_json(footprint, graphs, model["source"])


def halves_of(model: Mapping[str, Any]) -> tuple[GuidancePasses, ...]:
    """Return the family's ways to run conditional and unconditional passes."""
    found = next((each for each in FLOW_FAMILIES if each.name == model["family"]), None)
    return tuple(model.get("halves", found.spec.halves if found else ("batched", "sequential")))


def call_of(family: str, class_name: str, config: Mapping[str, Any], channels: int) -> Call | None:
    """Return how a flow model's transformer is called, or None for the default of its class."""
    found = next((each for each in FLOW_FAMILIES if each.name == family), None)
    return found.traced_call(config, channels) if found and role_of(class_name) == "denoiser" else None


def bundled_model(name: str, folder: str) -> dict[str, Any]:
    """Return the footprint of a bundled model as JSON."""
    place = assets_folder() / "starter"
    checkpoint = open_checkpoint(place / folder)
    detected = detect(checkpoint)
    sources = family_of(detected.family).sources(checkpoint, detected)
    footprint = footprint_of(sources, model_id=name, use_shipped=False)
    graphs = [graph_of(sources, part.name) for part in footprint.components]
    root = str(place.resolve())
    shared = [each.shared.replace(root, "starter").replace("\\", "/") for each in footprint.components]
    parts = [replace(each, shared=key) for each, key in zip(footprint.components, shared, strict=True)]
    return as_json(replace(footprint, components=tuple(parts)), graphs, f"assets/starter/{folder}")


def as_json(footprint: ModelFootprint, graphs: list[str], source: str) -> dict[str, Any]:
    """Return the JSON that `shipped` reads."""
    parts = [{"graph": key, **component_to_json(part)} for key, part in zip(graphs, footprint.components, strict=True)]
    return {"source": source, **model_to_json(footprint), "components": parts}


def empty_network(class_name: str, config: Mapping[str, Any]) -> Any:
    """Build a network without allocating its weights."""
    import accelerate

    owner = class_of(class_name)
    with accelerate.init_empty_weights(include_buffers=False):
        network = owner.from_config(config) if is_of_diffusers(owner) else owner(owner.config_class(**config))
    if hasattr(network, "tie_weights"):
        network.tie_weights()
    return network


def class_of(class_name: str) -> Any:
    """Return a network's class by name."""
    import diffusers
    import transformers

    return getattr(diffusers, class_name, None) or getattr(transformers, class_name)


def is_of_diffusers(owner: Any) -> bool:
    """Whether the class is from diffusers, where the config is the constructor's arguments."""
    return hasattr(owner, "load_config")


def defaults_of(recipes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return each class's default settings that affect memory."""
    found = {}
    for part in recipes.values():
        owner = class_of(part["class"])
        if is_of_diffusers(owner):
            signature = inspect.signature(owner.__init__).parameters.values()
            settings = {each.name: each.default for each in signature if each.default is not inspect.Parameter.empty}
        else:
            settings = owner.config_class().to_dict()
        if not any(isinstance(value, dict) for value in part["config"].values()):  # networks in networks differ in all
            found[part["class"]] = {
                key: settings[key] for key in sorted(settings) if _is_setting(part["class"], key, settings[key])
            }
    return found


def _is_setting(class_name: str, key: str, value: object) -> bool:
    return affects_memory(class_name, key) and not isinstance(value, dict)


def write(path: Path, settings: Mapping[str, Any]) -> None:
    """As compact JSON; one component's block in a line."""
    text = (
        json.dumps(settings, separators=(",", ":")).replace('],["', '],\n["').replace('},{"graph', '},\n{"graph') + "\n"
    )
    if len(text) > LARGEST:
        raise SystemExit(f"{path.name} would be {len(text)} bytes")
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
