"""Several requests at once with the starter models, under a limit, and through the engine's process."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from inpaint_requests import build_request, save_mask, save_noise
from PIL import Image
from recorded_again import read_metadata

from mezzotint.catalog.catalog import Catalog
from mezzotint.codec import decode, decode_event, encode
from mezzotint.engine import Engine
from mezzotint.protocol import (
    Cascade,
    GenerateManyRequest,
    GenerateManyResult,
    GenerateRequest,
    ModelRef,
    Notice,
    OfRequest,
    Output,
    Sampling,
    Saved,
    Stage,
    Transition,
)

pytestmark = pytest.mark.usefixtures("every_device")

MIB = 2**20
WORDS = ("a red house by the sea at dusk", "a white lighthouse at night", "a yellow tent in the mountains", "a castle")


@pytest.fixture
def engine():
    made = Engine(Catalog.standard())
    yield made
    made.close()


@pytest.fixture
def requests_for(tmp_path):
    def build(model, count=4, sampler=None, size=None, **fields):
        sampling = Sampling(steps=4, sampler=sampler, guidance_scale=3.0)
        stage = Stage(model=ModelRef(id=str(model)), width=size, height=size, sampling=sampling)
        return [
            GenerateRequest(
                prompt=WORDS[number % len(WORDS)],
                seed=number,
                cascade=Cascade(stages=(stage,)),
                output=Output(path=f"{tmp_path}/{number}.png"),
                **fields,
            )
            for number in range(count)
        ]

    return build


def together(engine, requests, events=None):
    told = events if events is not None else []
    outcomes = engine.generate_many(GenerateManyRequest(requests=tuple(requests)), told.append, lambda: False).outcomes
    assert [outcome.failure for outcome in outcomes] == [None] * len(requests)
    return [outcome.result for outcome in outcomes]


def apart(engine, result, request, tmp_path):
    """The largest difference from the image made alone, of 255."""
    alone = engine.generate(replace(request, output=Output(path=f"{tmp_path}/alone/")), lambda _: None, lambda: False)
    pair = (np.asarray(Image.open(each.images[0].path)).astype(int) for each in (result, alone))
    return int(np.abs(next(pair) - next(pair)).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "sampler"), [("starter-dit", None), ("starter-dit", "dpmpp_2m_sde"), ("starter-xl", "euler_a")]
)
def test_the_starter_s_images_are_those_made_alone(engine, requests_for, tmp_path, model, sampler):
    requests = requests_for(model, sampler=sampler)
    results = together(engine, requests)
    assert [result.together for result in results] == [4] * 4
    for request, result in zip(requests, results, strict=True):
        assert apart(engine, result, request, tmp_path) <= 2
        recorded = read_metadata(Path(result.images[0].path)).request
        assert (recorded.prompt, recorded.seed, recorded.count) == (request.prompt, request.seed, 1)


@pytest.mark.slow
def test_a_limit_that_has_room_for_one_alone_has_them_made_one_by_one(engine, requests_for, tiny_sdxl_folder, tmp_path):
    requests = requests_for(tiny_sdxl_folder, size=128, vram_limit_bytes=1536 * MIB)
    ample = together(engine, requests)
    assert [result.together for result in ample] == [4] * 4
    stage = next(phase for phase in ample[0].memory.phases if phase.name == "stage 1")
    assert stage.measured_bytes <= stage.predicted_bytes
    least = ample[0].plan.smallest_vram_bytes
    tight = together(engine, [replace(request, vram_limit_bytes=least) for request in requests])
    assert max(result.together for result in tight) < 4
    for result in tight:
        assert result.memory.peak_vram_bytes <= least
    for request, result in zip(requests, tight, strict=True):
        assert apart(engine, result, request, tmp_path) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)  # a card's driver alone takes more than the limits
def test_stages_and_masks_of_several_stay_within_a_limit_and_stream_no_more_than_one(
    engine, tiny_sdxl_folder, tmp_path
):
    more = Stage(sampling=Sampling(steps=3))  # larger than the first, so it decides
    way = Transition(scale=2.0, strength=0.7, space="pixel")
    requests = []
    for seed in range(4):
        images = (
            save_noise(tmp_path, f"{seed}.png", seed=seed),
            save_mask(tmp_path, (seed, 8, 48, 40), name=f"m{seed}.png"),
        )
        request = build_request(tmp_path, tiny_sdxl_folder, *images, stages=[more], transitions=[way])
        requests.append(replace(request, prompt=WORDS[seed], seed=seed))
    sizes = []
    for limit in (40 * MIB, 64 * MIB, 1536 * MIB):
        limited = [replace(request, vram_limit_bytes=limit) for request in requests]
        single = engine.generate(limited[0], lambda _: None, lambda: False)
        several = together(engine, limited)
        sizes.append(max(result.together for result in several))
        for phase in several[0].memory.phases:
            assert phase.measured_bytes <= limit
            if phase.name.startswith("stage"):
                assert phase.measured_bytes <= phase.predicted_bytes * 1.02  # latents are not planned
        for part, of_one in zip(several[0].plan.components, single.plan.components, strict=True):
            assert part.resident_blocks >= of_one.resident_blocks and part.host == of_one.host
        assert several[0].recoveries == single.recoveries == ()
        assert apart(engine, several[-1], limited[-1], tmp_path) <= 2
    assert sizes[0] < sizes[1] < sizes[2] == 4


@pytest.mark.slow
def test_a_batch_that_runs_short_is_halved_before_anything_else_gives(
    engine, requests_for, tiny_sdxl_folder, tmp_path, monkeypatch
):
    from diffusers import UNet2DConditionModel

    from mezzotint.memory.accounting import DeviceOutOfMemory

    forward, rows = UNet2DConditionModel.forward, []

    def short(self, sample, *words, **named):
        if not sample.is_meta and type(sample) is torch.Tensor:  # else the planner has a look
            rows.append(len(sample))
        if rows and len(sample) > 4:
            raise DeviceOutOfMemory(requested=MIB, in_use=0, cap=0)
        return forward(self, sample, *words, **named)

    monkeypatch.setattr(UNet2DConditionModel, "forward", short)
    events = []
    requests = requests_for(tiny_sdxl_folder, count=6, size=64, vram_limit_bytes=1536 * MIB)
    results = together(engine, requests, events)
    assert rows[:4] == [12, 12, 6, 4] and max(rows[3:]) == 4
    told = [event.event for event in events if isinstance(event.event, Notice) and event.event.code == "memory_short"]
    assert len(told) == 2 * 6 and "split into passes of" in told[0].message
    assert results[0].quantization == "none" and results[0].guidance_passes == "batched"
    assert all(part.resident_blocks == part.blocks for part in results[0].plan.components)
    for request, result in zip(requests, results, strict=True):
        assert apart(engine, result, request, tmp_path) <= 2


@pytest.mark.slow
def test_the_engine_s_process_makes_many(requests_for, tiny_pixart_folder):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "mezzotint.server"]
    good, bad = requests_for(tiny_pixart_folder, count=2, size=64)
    bad = replace(bad, strength=0.5)
    asked = {"requests": [encode(good), encode(bad)]}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"schema_version": 1}},
        {"jsonrpc": "2.0", "id": 2, "method": "generate_many", "params": asked},
    ]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    try:
        process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        process.stdin.flush()
        events = []
        while (message := json.loads(process.stdout.readline())).get("id") != 2:
            if message.get("method") == "event":
                events.append(decode_event(message["params"]["event"]))
        result = decode(GenerateManyResult, message["result"])
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()
    assert result.outcomes[0].failure is None and Path(result.outcomes[0].result.images[0].path).exists()
    assert result.outcomes[1].failure.kind == "usage" and "strength" in result.outcomes[1].failure.message
    assert [event.request for event in events if isinstance(event, OfRequest) and isinstance(event.event, Saved)] == [0]
