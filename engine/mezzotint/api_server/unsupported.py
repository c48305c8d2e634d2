"""Fields of A1111's API that change nothing here: those that must be off, and those that are ignored.

A value is taken if the image is the same without it. Of those that would change it in A1111, the ones that change what
is shown are refused, and the others left, so that they are listed as ignored.
"""

from collections.abc import Callable, Mapping

from mezzotint.api_server.fields import Fields
from mezzotint.api_server.refusal import invalid
from mezzotint.images.untrusted import real

_Test = Callable[[object], bool]
_MustBe = tuple[_Test, str]

_SAME = ("", "none", "automatic", "use same checkpoint", "use same sampler", "use same scheduler")
# A1111's eta of the samplers that have one, which ours cannot change.
_ETA: Mapping[str, float] = {"euler_a": 1, "dpmpp_2m_sde": 1, "lcm": 1, "ddim": 0}


def is_empty(value: object) -> bool:
    """Whether a value switches something off."""
    return value in ("", [], {}, False, 0) or str(value).strip().lower() in ("none", "false", "0")


def _is_zero(value: object) -> bool:
    return real(value) == 0 or value is False


def _is_one(value: object) -> bool:
    return real(value) == 1


def _is_not_positive(value: object) -> bool:
    return (real(value) or 0) <= 0


def _is_same(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in _SAME


def _always(_: object) -> bool:
    return True


# What each must be, and its meaning for the error. Clients send most of them with every request.
_OFF: dict[str, _MustBe] = {
    "seed_resize_from_h": (_is_not_positive, "resizing of seeds"),
    "seed_resize_from_w": (_is_not_positive, "resizing of seeds"),
    "restore_faces": (is_empty, "restoring faces"),
    "tiling": (is_empty, "tiling images"),
    "s_churn": (_is_zero, "another churn"),
    "s_tmin": (_is_zero, "another range of churn"),
    "s_noise": (_is_one, "another amount of noise"),
    "script_name": (is_empty, "scripts"),
    "infotext": (is_empty, "settings as an infotext"),
    "disable_extra_networks": (is_empty, "ignoring <lora:...> tags"),
}
_OFF_HIRES: dict[str, _MustBe] = {
    "hr_checkpoint_name": (_is_same, "another model in the second pass"),
    "hr_sampler_name": (_is_same, "another sampler in the second pass"),
    "hr_scheduler": (_is_same, "another scheduler in the second pass"),
    "hr_prompt": (is_empty, "another prompt in the second pass"),
    "hr_negative_prompt": (is_empty, "another prompt in the second pass"),
}
_OFF_IMAGE: dict[str, _MustBe] = {
    "initial_noise_multiplier": (_is_one, "another amount of noise"),
    "latent_mask": (is_empty, "a mask in latent space"),
}
# When each changes nothing.
_WITHOUT_EFFECT: dict[str, _Test] = {
    **dict.fromkeys(("do_not_save_samples", "do_not_save_grid", "force_task_id", "comments"), _always),
    **dict.fromkeys(
        ("override_settings_restore_afterwards", "s_tmax", *_OFF_HIRES), _always
    ),  # without what they alter
    **dict.fromkeys(("s_min_uncond", "firstphase_width", "firstphase_height", "script_args"), is_empty),
    "image_cfg_scale": lambda value: real(value) in (1, 1.5),  # what clients always send
    "mask_round": lambda value: str(value).lower() in ("true", "1"),
}


def check_unsupported(fields: Fields, *, hires: bool, sampler: str | None) -> None:
    """Take the fields that cannot have an effect; raises Refusal for one that should have one."""
    for name, (is_off, what) in (_OFF | _OFF_IMAGE | (_OFF_HIRES if hires else {})).items():
        value = fields.take(name)
        if value is not None and not is_off(value):
            raise invalid(fields.path(name), f"{what} are not supported; leave it out")
    for name, has_none in _WITHOUT_EFFECT.items():
        fields.take_if(name, has_none)
    own = _ETA.get(sampler or "")
    fields.take_if("eta", _always if own is None else lambda value: real(value) == own)


def check_scripts(scripts: Fields) -> None:
    """Accept scripts whose arguments are all off: clients send those of extensions that they know."""
    for name in scripts.names():
        script = scripts.inside(name)
        arguments = script.take("args")
        if arguments and not (isinstance(arguments, list) and all(map(is_empty, arguments))):
            raise invalid(script.path("args"), "scripts of extensions are not supported; leave it out")
        script.drop()
