"""Translate other programs' names of samplers, schedules and upscaling methods to ours, and their LoRA tags."""

import re
from collections.abc import Mapping

from mezzotint.images.untrusted import real
from mezzotint.protocol import LoraNamed, Space
from mezzotint.sampling_protocol import SAMPLERS, SCHEDULES

_COMFYUI_SAMPLERS = {
    "euler_ancestral": "euler_a",
    "dpmpp_2m_sde_gpu": "dpmpp_2m_sde",
    "uni_pc": "unipc",
    "uni_pc_bh2": "unipc",
}
_INVOKEAI = {
    "ddim": ("ddim", None),
    "euler": ("euler", None),
    "euler_k": ("euler", "karras"),
    "euler_a": ("euler_a", None),
    "heun": ("heun", None),
    "heun_k": ("heun", "karras"),
    "dpmpp_2m": ("dpmpp_2m", None),
    "dpmpp_2m_k": ("dpmpp_2m", "karras"),
    "dpmpp_2m_sde": ("dpmpp_2m_sde", None),
    "dpmpp_2m_sde_k": ("dpmpp_2m_sde", "karras"),
    "unipc": ("unipc", None),
    "unipc_k": ("unipc", "karras"),
    "lcm": ("lcm", None),
}
# A1111's upscalers of the second pass: the space, and the method in it.
HIRES_UPSCALERS: Mapping[str, tuple[Space, str]] = {
    "latent": ("latent", "bilinear"),
    "latent (bicubic)": ("latent", "bicubic"),
    "latent (nearest)": ("latent", "nearest"),
    "latent (nearest-exact)": ("latent", "nearest"),
    "latent (bilinear)": ("latent", "bilinear"),
    "bicubic": ("pixel", "bicubic"),
    "bilinear": ("pixel", "bilinear"),
    "lanczos": ("pixel", "lanczos"),
    "nearest": ("pixel", "nearest"),
    "none": ("pixel", "lanczos"),
}
_LORA_TAG = re.compile(r"<(?:lora|lyco):([^<>:]+)(?::([^<>]*))?>")
# InvokeAI's until version 2, which have the schedule of the model
_INVOKEAI |= {
    "k_euler": ("euler", None),
    "k_euler_a": ("euler_a", None),
    "k_heun": ("heun", None),
    "k_dpmpp_2": ("dpmpp_2m", None),
}
_NOVELAI = {
    "k_euler": "euler",
    "k_euler_ancestral": "euler_a",
    "k_heun": "heun",
    "k_dpmpp_2m": "dpmpp_2m",
    "k_dpmpp_2m_sde": "dpmpp_2m_sde",
    "ddim_v3": "ddim",
}
_OUR_SAMPLERS = {shown.lower(): ours for ours, shown in SAMPLERS.items()}
_OUR_SCHEDULES = {shown.lower(): ours for ours, shown in SCHEDULES.items()} | {"uniform": "normal"}


def from_a1111(sampler: str | None, schedule: str | None) -> tuple[str | None, str | None]:
    """Our names for A1111's; splits off a schedule in the sampler's name (old form "DPM++ 2M Karras").

    Unknown names are kept as they are; "Automatic" means None.
    """
    if sampler is not None and schedule is None:
        sampler, schedule = _split_old_form(sampler)
    if schedule is not None and schedule.lower() == "automatic":
        schedule = None
    ours = None if sampler is None else _OUR_SAMPLERS.get(sampler.lower(), sampler)
    return ours, None if schedule is None else _OUR_SCHEDULES.get(schedule.lower(), schedule)


def from_comfyui(sampler: str | None, schedule: str | None) -> tuple[str | None, str | None]:
    """Our names for those of ComfyUI and SwarmUI."""
    if sampler is None:
        return None, schedule
    name = sampler.removeprefix("sample_")  # as its first versions wrote them
    return _COMFYUI_SAMPLERS.get(name, name), schedule


def our_names(sampler: str | None, schedule: str | None) -> tuple[str | None, str | None]:
    """Our names for any of these programs' names, as users type them; names that we lack stay."""
    return from_a1111(*from_comfyui(sampler, schedule))


def from_invokeai(scheduler: str | None) -> tuple[str | None, str | None]:
    """Our sampler and schedule for InvokeAI's single combined name."""
    return (None, None) if scheduler is None else _INVOKEAI.get(scheduler, (scheduler, None))


def from_novelai(sampler: str | None, schedule: str | None) -> tuple[str | None, str | None]:
    """Our sampler and schedule for NovelAI's; its "native" is the model's own."""
    ours = None if sampler is None else _NOVELAI.get(sampler, sampler)
    return ours, None if schedule == "native" else schedule


def from_a1111_upscaler(name: str | None) -> tuple[Space | None, str | None]:
    """Space and method for A1111's upscaler of the second pass; no space for one that is a network."""
    return (None, None) if name is None else HIRES_UPSCALERS.get(name.casefold(), (None, name))


def lora_tags(prompt: str) -> tuple[LoraNamed, ...]:
    """The LoRAs that a prompt names by `<lora:NAME:WEIGHT>`; of several weights the first counts."""
    tags = ((name.strip(), real((weights or "1").partition(":")[0])) for name, weights in _LORA_TAG.findall(prompt))
    return tuple(LoraNamed(name=name, weight=1.0 if weight is None else weight) for name, weight in tags)


def _split_old_form(sampler: str) -> tuple[str, str | None]:
    for shown in SCHEDULES.values():
        head = sampler[: -len(shown) - 1]
        if head and sampler.lower() == f"{head} {shown}".lower():
            return head, shown
    return sampler, None
