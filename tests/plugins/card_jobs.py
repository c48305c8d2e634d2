"""Jobs for the simulated GPU: requests for tiny models, run through the Engine API."""

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage, Transition

STEPS = 3


def request_of(*models, tmp_path, sampler="euler", steps=STEPS, **fields):
    sampling = Sampling(steps=steps, sampler=sampler, guidance_scale=4.0)
    stages = tuple(
        Stage(model=ModelRef(id=str(model)), width=64, height=64, sampling=sampling, until=None if last else 0.5)
        for model, last in zip(models, [False] * (len(models) - 1) + [True], strict=True)
    )
    given = {"prompt": "a red house", "seed": 7, "output": Output(path=f"{tmp_path}/out/"), "dtype": "float32"}
    given |= {"quantization": "none", "text_quantization": "none"}
    return GenerateRequest(
        cascade=Cascade(stages=stages, transitions=(Transition(),) * (len(stages) - 1)), **given | fields
    )


def run(request, on_event=lambda event: None, engine=None):
    own = Engine(Catalog.standard()) if engine is None else engine
    try:
        return own.generate(request, on_event, lambda: False)
    finally:
        if engine is None:
            own.close()


def pixels(result):
    return [image.sha256 for image in result.images]
