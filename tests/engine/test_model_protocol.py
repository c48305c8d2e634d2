"""Which models could take the place of another, in fewer steps."""

from dataclasses import replace

from fake_engine import model_info

from mezzotint.model_protocol import FastModel, ModelDefaults, faster_models

OWN = model_info(
    id="own", family="sdxl", variant="base", defaults=ModelDefaults(width=64, height=64, steps=20, guidance_scale=7.0)
)


def like(name, steps=4, **changed):
    return replace(OWN, id=name, defaults=replace(OWN.defaults, steps=steps, guidance_scale=1.0), **changed)


def test_those_of_its_kind_with_at_most_half_its_steps():
    others = [OWN, like("turbo"), like("slow", 11), like("other", family="flux"), like("broken", problem="damaged")]
    others += [like("hidden", hidden=True), like("inpainting", variant="inpaint"), like("editor", references=1)]
    assert faster_models(OWN, others) == (FastModel(id="turbo", steps=4, guided=False),)


def test_none_for_models_of_other_work():
    assert faster_models(replace(OWN, variant="refiner"), [like("turbo")]) == ()
    assert faster_models(replace(OWN, defaults=None), [like("turbo")]) == ()
