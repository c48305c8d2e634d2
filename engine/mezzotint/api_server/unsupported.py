"""Fields of A1111's API that change nothing here: those that must be off, and those that have no meaning."""

from collections.abc import Callable

from mezzotint.api_server.fields import Fields
from mezzotint.api_server.refusal import invalid
from mezzotint.images.untrusted import real

_MustBe = tuple[Callable[[object], bool], str]

_SAME = ("", "none", "automatic", "use same checkpoint", "use same sampler", "use same scheduler")


def _is_empty(value: object) -> bool:
    return value in ("", [], {}, False, 0) or str(value).strip().lower() in ("none", "false", "0")


def _is_zero(value: object) -> bool:
    return real(value) == 0 or value is False


def _is_one(value: object) -> bool:
    return real(value) == 1


def _is_not_positive(value: object) -> bool:
    return (real(value) or 0) <= 0


def _is_same(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in _SAME


# What each must be, and its meaning for the error. Clients send most of them with every request.
_OFF: dict[str, _MustBe] = {
    "seed_resize_from_h": (_is_not_positive, "resizing of seeds"),
    "seed_resize_from_w": (_is_not_positive, "resizing of seeds"),
    "restore_faces": (_is_empty, "restoring faces"),
    "tiling": (_is_empty, "tiling images"),
    "s_churn": (_is_zero, "another churn"),
    "s_tmin": (_is_zero, "another range of churn"),
    "s_noise": (_is_one, "another amount of noise"),
    "script_name": (_is_empty, "scripts"),
    "infotext": (_is_empty, "settings as an infotext"),
    "disable_extra_networks": (_is_empty, "ignoring <lora:...> tags"),
}
_OFF_HIRES: dict[str, _MustBe] = {
    "hr_checkpoint_name": (_is_same, "another model in the second pass"),
    "hr_sampler_name": (_is_same, "another sampler in the second pass"),
    "hr_scheduler": (_is_same, "another scheduler in the second pass"),
    "hr_prompt": (_is_empty, "another prompt in the second pass"),
    "hr_negative_prompt": (_is_empty, "another prompt in the second pass"),
}
_OFF_IMAGE: dict[str, _MustBe] = {
    "initial_noise_multiplier": (_is_one, "another amount of noise"),
    "latent_mask": (_is_empty, "a mask in latent space"),
}
_NO_MEANING = (
    *("eta", "s_tmax", "s_min_uncond", "do_not_save_samples", "do_not_save_grid", "script_args"),
    *("override_settings_restore_afterwards", "image_cfg_scale", "force_task_id", "comments", "firstphase_width"),
    *("firstphase_height", "mask_blur_x", "mask_blur_y", "mask_round", *_OFF_HIRES),
)


def check_unsupported(fields: Fields, *, hires: bool) -> None:
    """Take the fields that cannot have an effect; raises Refusal for one that should have one."""
    for name, (is_off, what) in (_OFF | _OFF_IMAGE | (_OFF_HIRES if hires else {})).items():
        value = fields.take(name)
        if value is not None and not is_off(value):
            raise invalid(fields.path(name), f"{what} are not supported; leave it out")
    for name in _NO_MEANING:
        fields.take(name)


def check_scripts(scripts: Fields) -> None:
    """Accept scripts whose arguments are all off: clients send those of extensions that they know."""
    for name in scripts.names():
        script = scripts.inside(name)
        arguments = script.take("args")
        if arguments and not (isinstance(arguments, list) and all(map(_is_empty, arguments))):
            raise invalid(script.path("args"), "scripts of extensions are not supported; leave it out")
