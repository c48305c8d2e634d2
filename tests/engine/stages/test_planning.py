"""Plans without a job."""

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
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
