"""What is set on the Create page, as a job says it: read again it asks for the same."""

import json
from dataclasses import replace

from create_forms import FORMS
from hypothesis import given

from mezzotint.batch.job.reading import parse_job
from mezzotint.batch.job.settings import request_of as request_of_options
from mezzotint.protocol import GenerateRequest, ImageInput, Output
from mezzotint_app.viewmodel.batch.settings import job_of_request, settings_of_request, words_of
from mezzotint_app.viewmodel.create.request import request_of


def comparable(request):
    """Without what no setting says and no pixel depends on."""
    grows = request.inpaint is not None and (request.inpaint.left or request.inpaint.bottom)
    masked = any(image.role == "mask" for image in request.images)
    return replace(
        request,
        previews=False,
        output=Output(),
        loras=tuple(replace(one, sha256=None) for one in request.loras),
        inpaint=request.inpaint if grows or masked else None,
    )


@given(FORMS)
def test_a_job_of_the_page_asks_for_the_same(form):
    request = request_of(form)
    job = parse_job(json.dumps(job_of_request(request, "/out")).encode(), "job.json")
    read = request_of_options(job.settings.replace(prompt=job.prompts.list[0]))
    assert comparable(read) == comparable(request)
    assert job.output.folder == "/out"


@given(FORMS)
def test_settings_alone_name_no_image(form):
    said = settings_of_request(request_of(form)).settings
    assert not said.keys() & {"init", "mask", "strength", "outpaint", "prompt"}


def test_reference_images_are_a_setting_of_the_page_s_own_job_only():
    request = GenerateRequest(prompt="x", images=(ImageInput(path="/a.png", role="reference"),))
    assert settings_of_request(request, with_images=True).settings["reference"] == ["/a.png"]
    assert "reference" not in settings_of_request(request).settings


def test_settings_in_a_line():
    line = words_of({"model": "starter-dit", "size": "512x512", "steps": 20, "guidance": 4.5, "lora": ["a", "b"]}, 0.6)
    assert line == "starter-dit · 512x512 · 20 steps · CFG scale 4.5 · LoRAs: 2 · denoising strength 0.6"
    assert words_of({"sampler": "dpmpp_2m"}) == "default model · DPM++ 2M"
    assert words_of({}) == "default model"
