"""Translate other programs' sampler and schedule names to ours."""

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
    return None if sampler is None else _COMFYUI_SAMPLERS.get(sampler, sampler), schedule


def our_names(sampler: str | None, schedule: str | None) -> tuple[str | None, str | None]:
    """Our names for any of these programs' names, as users type them; names that we lack stay."""
    return from_a1111(*from_comfyui(sampler, schedule))


def from_invokeai(scheduler: str | None) -> tuple[str | None, str | None]:
    """Our sampler and schedule for InvokeAI's single combined name."""
    return (None, None) if scheduler is None else _INVOKEAI.get(scheduler, (scheduler, None))


def _split_old_form(sampler: str) -> tuple[str, str | None]:
    for shown in SCHEDULES.values():
        head = sampler[: -len(shown) - 1]
        if head and sampler.lower() == f"{head} {shown}".lower():
            return head, shown
    return sampler, None
