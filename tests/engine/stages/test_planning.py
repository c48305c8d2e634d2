"""Plans without a job."""

from dataclasses import replace

import pytest
from tiny_control import write_tiny_control
from tiny_flux1 import write_tiny_flux
from tiny_redux import write_tiny_redux

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.paths import assets_folder
from mezzotint.protocol import PlanRequest
from mezzotint.stages.planning import planned

GB = 2**30


def test_a_model_of_the_catalog_is_looked_at_file_by_file():
    request = PlanRequest(
        models=(str(assets_folder() / "starter" / "xl"), "starter-xl"), vram_bytes=2 * GB, ram_bytes=4 * GB
    )
    made = planned(request, Catalog.standard)
    assert made.fits
    own, known = (part for part in made.components if part.name == "unet")
    assert own.blocks == known.blocks > 1
    assert own.bytes > 2**20


def test_the_engine_plans_the_same():
    request = PlanRequest(models=("sdxl", "sdxl-refiner"), vram_bytes=4 * GB, ram_bytes=16 * GB)
    made = Engine(Catalog.standard()).plan(request)
    assert made == planned(request, Catalog.standard) and len(made.phases) == 4


def test_reference_images_count_as_the_network_is_shown_them():
    def activations(*sizes):
        request = PlanRequest(models=("flux",), vram_bytes=24 * GB, ram_bytes=64 * GB, references=sizes)
        made = planned(request, Catalog.standard)
        return next(phase.activation_bytes for phase in made.phases if phase.name == "stage 1"), made.seconds

    (none, alone), (one, slower) = activations(), activations((64, 64))  # which Kontext sees at a megapixel
    assert 1.8 * none < one < 2.2 * none
    assert slower > 1.8 * alone
    assert activations((4000, 4000))[0] == one


def test_models_without_reference_images():
    request = PlanRequest(models=("sdxl",), vram_bytes=8 * GB, references=((64, 64),))
    with pytest.raises(UsageError, match="sdxl takes no reference images"):
        planned(request, Catalog.standard)


def test_control_networks_count_in_the_steps_that_use_them(tiny_sdxl_folder, tmp_path):
    net = write_tiny_control(tmp_path / "net", tiny_sdxl_folder)

    def of(*controls, models=(str(tiny_sdxl_folder),)):
        made = planned(PlanRequest(models=models, vram_bytes=8 * GB, steps=10, controls=controls), Catalog.standard)
        return made.phases[1].seconds, [part.name for part in made.components]

    (alone, none), (always, both) = of(), of(f"a.png,model={net}")
    (half, _), (never, _) = of(f"a.png,model={net},end=0.5"), of(f"a.png,model={net},weight=0")
    assert (set(both) - set(none)) == {"controlnet"}
    assert alone < never < half < always and half - alone == pytest.approx((always - alone) / 2, rel=0.2)
    with pytest.raises(UsageError, match="control: weight='3.0' is invalid"):
        of(f"a.png,model={net},weight=3")
    with pytest.raises(ModelRefused, match="use one that was made for it"):
        of(f"a.png,model={net}", models=("starter-dit",))


def test_the_text_of_image_prompts_counts(tmp_path):
    folder, redux = write_tiny_flux(tmp_path / "FLUX.1-dev"), write_tiny_redux(tmp_path)
    request = PlanRequest(models=(str(folder),), vram_bytes=8 * GB, width=64, height=64)
    plain = planned(request, Catalog.standard).phases[1].activation_bytes
    controls = (f"a.png,model={redux}",)
    assert planned(replace(request, controls=controls), Catalog.standard).phases[1].activation_bytes > plain
