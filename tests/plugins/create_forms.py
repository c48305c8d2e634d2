"""Filled-in Create pages of every kind, for property tests."""

from dataclasses import replace

from hypothesis import strategies as st

from mezzotint.control_protocol import CONTROL_TYPES
from mezzotint.protocol import SCHEMES, ImageInput, Inpaint
from mezzotint_app.settings import Settings
from mezzotint_app.viewmodel.create.controls import ControlChoice
from mezzotint_app.viewmodel.create.request import Form
from mezzotint_app.viewmodel.create.sampler_choices import SAMPLERS, SCHEDULES
from mezzotint_app.viewmodel.create.state import CreateSettings, LoraChoice

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
NAMES = st.text(st.sampled_from("ab -_.'\"$[]:/\u00e9"), min_size=1, max_size=12)
FRACTIONS = st.floats(0.01, 0.99).map(lambda value: round(value, 4))
QUANTIZATIONS = st.sampled_from(["none", *SCHEMES])


def optional(strategy):
    return st.none() | strategy


LORAS = st.builds(LoraChoice, path=NAMES, weight=st.floats(-3, 3).map(lambda value: round(value, 3)), on=st.booleans())

CONTROLS = st.builds(
    ControlChoice,
    image=NAMES,
    model=NAMES,
    weight=st.floats(0, 2).map(lambda value: round(value, 3)),
    end=FRACTIONS,
    type=optional(st.sampled_from(CONTROL_TYPES)),
    preprocess=st.sampled_from(["none", "canny", "lines", "scribble", "depth", "pose", "gray", "tile"]),
    keep=st.booleans(),
    on=st.booleans(),
)

SETTINGS = st.builds(
    CreateSettings,
    count=st.integers(1, 9),
    steps=optional(st.integers(1, 1000)),
    guidance_scale=optional(st.floats(0, 100).map(lambda value: round(value, 3))),
    guidance_rescale=optional(FRACTIONS),
    clip_skip=optional(st.integers(0, 10)),
    refiner=optional(NAMES),
    second_pass=st.booleans(),
    second_scale=optional(st.floats(1, 4).map(lambda value: round(value, 3))),
    second_strength=optional(FRACTIONS),
    second_space=optional(st.sampled_from(["latent", "pixel"])),
    second_upscaler=optional(st.sampled_from(["nearest", "bilinear", "bicubic", "lanczos"])),
    refine_with=optional(NAMES),
    loras=st.lists(LORAS, max_size=3).map(tuple),
    controls=st.lists(CONTROLS, max_size=2).map(tuple),
    embeddings=st.lists(NAMES, max_size=2).map(tuple),
    quantization=optional(QUANTIZATIONS),
    text_quantization=optional(QUANTIZATIONS),
    compile=st.booleans(),
    fast=st.booleans(),
    cuda_graphs=optional(st.sampled_from(["on", "off"])),
    prediction_type=optional(st.sampled_from(["epsilon", "v_prediction", "flow_prediction"])),
    zero_terminal_snr=optional(st.booleans()),
    weights=optional(NAMES),
    vae=optional(NAMES),
    text_encoders=st.lists(NAMES, max_size=2).map(tuple),
    dtype=optional(st.sampled_from(["float32", "bfloat16", "float16"])),
    vae_tile=optional(st.integers(0, 8192)),
    strict=st.booleans(),
)


@st.composite
def settings(draw):
    """Draw settings with compatible sizes and switch points, as the page ensures."""
    found = draw(SETTINGS)
    sampler = draw(optional(st.sampled_from(SAMPLERS)))
    schedule = draw(optional(st.sampled_from(SCHEDULES)))
    size = draw(optional(st.tuples(st.integers(8, 256), st.integers(8, 256))))
    return replace(
        found,
        sampler=sampler,
        schedule=schedule,
        width=size and size[0] * 8,
        height=size and size[1] * 8,
        refiner_at=draw(optional(FRACTIONS)) if found.refiner else None,
        refine_steps=draw(st.integers(1, 1000)) if found.refine_with else None,
        condition_noise=draw(optional(FRACTIONS)) if found.refine_with else None,
        aspect_locked=draw(st.booleans()),
    )


WINDOWS = st.builds(
    Settings,
    memory=st.sampled_from(["auto", "fast", "balanced", "lowest"]),
    vram_limit_bytes=optional(st.integers(1, 1 << 20).map(lambda count: count << 20)),
    ram_limit_bytes=optional(st.integers(1, 1 << 10).map(lambda count: count << 30)),
    attention=st.sampled_from(["auto", "flash", "int8", "sdpa", "reference"]),
    device=st.sampled_from(["auto", "cpu", "cuda:1"]),
    previews=st.booleans(),
    preview_decoder=st.sampled_from(["auto", "linear"]),
)
INIT = NAMES.map(lambda name: (ImageInput(path=name),))
MASKED = st.tuples(NAMES.map(lambda name: ImageInput(path=name)), NAMES.map(lambda n: ImageInput(path=n, role="mask")))
IMAGES = st.just(()) | INIT | MASKED
INPAINTS = st.builds(
    Inpaint,
    area=st.sampled_from(["whole", "masked"]),
    padding=st.integers(0, 4096),
    feather=st.integers(0, 256),
    fill=st.sampled_from(["original", "blur", "noise"]),
    left=st.integers(0, 999),
    bottom=st.integers(0, 1),
)

FORMS = st.builds(
    Form,
    model=st.just("") | NAMES,
    prompt=WORDS,
    negative_prompt=WORDS,
    settings=settings(),
    seed=optional(st.integers(0, 2**63 - 10)),
    images=IMAGES,
    strength=optional(FRACTIONS),
    inpaint=optional(INPAINTS),
    window=WINDOWS,
    output=optional(NAMES),
).map(lambda form: form if form.model else replace(form, settings=replace(form.settings, vae=None, text_encoders=())))
