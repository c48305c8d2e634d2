"""What there is, in A1111's form; names instead of paths."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from mezzotint.api_server.control_units import MODULES, PREPROCESSORS_BY_TYPE
from mezzotint.api_server.second_pass import LATENT_UPSCALERS, RESAMPLERS
from mezzotint.library.styles.store import list_styles
from mezzotint.protocol import MemoryNow, ModelInfo, Preprocess
from mezzotint.sampling_protocol import SAMPLERS, SCHEDULES


def samplers() -> list[dict[str, object]]:
    """The samplers, by A1111's names and ours."""
    return [{"name": shown, "aliases": [ours], "options": {}} for ours, shown in SAMPLERS.items()]


def schedulers() -> list[dict[str, object]]:
    """The schedules, and the model's own."""
    named = {"automatic": "Automatic"} | SCHEDULES
    return [
        {"name": ours, "label": shown, "aliases": None, "default_rho": -1, "need_inner_model": False}
        for ours, shown in named.items()
    ]


def sd_models(models: Sequence[ModelInfo]) -> list[dict[str, object]]:
    """The models by their ids; no hashes, which would take reading them whole."""
    return [
        {
            "title": one.id,
            "model_name": one.id,
            "hash": None,
            "sha256": None,
            "filename": one.id,
            "config": None,
        }
        for one in models
    ]


def loras(files: Mapping[str, Path]) -> list[dict[str, object]]:
    """The LoRAs by the names that a prompt's tags use; a name with < or > cannot be written in one."""
    usable = {name: path for name, path in files.items() if not set(name) & set("<>")}
    return [{"name": name, "alias": name, "path": path.name, "metadata": {}} for name, path in usable.items()]


def control_modules(available: Callable[[Preprocess], bool]) -> list[str]:
    """The preprocessors whose networks are there."""
    return [name for name, how in MODULES.items() if available(how)]


def control_types(modules: Sequence[str], models: Collection[str]) -> dict[str, object]:
    """What control images may show, with the preprocessors for it, in the extension's form."""
    return {
        kind: {
            "module_list": (listed := [name for name in modules if kind == "All" or MODULES[name] in made]),
            "model_list": ["None", *models],
            "default_option": next((name for name in listed if name != "none"), "none"),
            "default_model": "None",
        }
        for kind, made in PREPROCESSORS_BY_TYPE.items()
    }


def prompt_styles() -> list[dict[str, object]]:
    """The styles; what they set beside their texts applies where a request sets nothing."""
    return [{"name": one.name, "prompt": one.prompt, "negative_prompt": one.negative} for one in list_styles().styles]


def upscalers(names: Sequence[str]) -> list[dict[str, object]]:
    """The upscalers of pixels, in the second pass and of finished images; `names`: of networks."""
    return [
        {"name": name, "model_name": None, "model_path": None, "model_url": None, "scale": 4}
        for name in (*RESAMPLERS, *names)
    ]


def latent_upscale_modes() -> list[dict[str, object]]:
    """The upscalers of latents in the second pass."""
    return [{"name": name} for name in LATENT_UPSCALERS]


def memory(now: MemoryNow) -> dict[str, object]:
    """Memory in bytes, of the machine and of the GPU that is in use."""
    ram = {"free": now.ram_free_bytes, "used": now.ram_total_bytes - now.ram_free_bytes, "total": now.ram_total_bytes}
    total, free = now.vram_total_bytes, now.vram_free_bytes
    if total is None or free is None:
        return {"ram": ram, "cuda": {"error": "no GPU is in use"}}
    held = {"current": now.vram_bytes, "peak": now.vram_bytes}
    system = {"free": free, "used": total - free, "total": total}
    return {"ram": ram, "cuda": {"system": system, "active": held, "allocated": held, "reserved": held}}
