"""What the endpoints are for and take, as OpenAPI describes it, and as a page that needs no network."""

import html
import json
from collections.abc import Collection, Mapping

from mezzotint import __version__

_IMAGE = "iVBORw0KGgo..."  # base64, shortened
_NONE: Mapping[str, object] = {}

# Fields by an example of each.
_GENERATION: Mapping[str, object] = {
    "prompt": "a red house by the sea at dusk",
    "negative_prompt": "fog",
    "styles": ["Ink"],
    "steps": 20,
    "cfg_scale": 7.0,
    "width": 512,
    "height": 512,
    "seed": 7,
    "subseed": 20,
    "subseed_strength": 0.1,
    "batch_size": 1,
    "n_iter": 1,
    "sampler_name": "DPM++ 2M",
    "scheduler": "Karras",
    "refiner_checkpoint": "None",
    "refiner_switch_at": 0.8,
    "override_settings": {"sd_model_checkpoint": "starter-dit", "CLIP_stop_at_last_layers": 1},
    "alwayson_scripts": {"controlnet": {"args": []}},
    "send_images": True,
    "save_images": False,
}
_SECOND_PASS: Mapping[str, object] = {
    "enable_hr": True,
    "hr_scale": 2.0,
    "hr_upscaler": "Latent",
    "hr_second_pass_steps": 10,
    "denoising_strength": 0.5,
}
_INIT_IMAGE: Mapping[str, object] = {
    "init_images": [_IMAGE],
    "denoising_strength": 0.75,
    "mask": _IMAGE,
    "mask_blur": 4,
    "inpainting_fill": 1,
    "inpaint_full_res": True,
    "inpaint_full_res_padding": 32,
    "inpainting_mask_invert": 0,
    "include_init_images": False,
}
_ENLARGING: Mapping[str, object] = {
    "upscaler_1": "Lanczos",
    "resize_mode": 0,
    "upscaling_resize": 2.0,
    "upscaling_resize_w": 1024,
    "upscaling_resize_h": 1024,
    "upscaling_crop": True,
}
_POST: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "txt2img": ("Generate images from words.", {**_GENERATION, **_SECOND_PASS}),
    "img2img": ("Generate images from an image, or inside a mask.", {**_GENERATION, **_INIT_IMAGE}),
    "extra-single-image": ("Enlarge a finished image.", {"image": _IMAGE, **_ENLARGING}),
    "extra-batch-images": (
        "Enlarge finished images.",
        {"imageList": [{"data": _IMAGE, "name": "a.png"}], **_ENLARGING},
    ),
    "detect": (
        "Make control images of images.",
        {"controlnet_module": "canny", "controlnet_input_images": [_IMAGE], "controlnet_processor_res": 512},
    ),
    "png-info": ("Read the metadata of an image.", {"image": _IMAGE}),
    "options": (
        "Change what requests leave open, until the server ends.",
        {"sd_model_checkpoint": "starter-dit", "CLIP_stop_at_last_layers": 1, "live_previews_enable": True},
    ),
    "interrupt": ("End the running job after its step; its answer has the images that are finished.", _NONE),
    "unload-checkpoint": ("Free the memory of the models.", _NONE),
    "interrogate": ("Not supported.", _NONE),
    "skip": ("Not supported.", _NONE),
}
_GET: Mapping[str, str] = {
    "progress": "How far the running job is; with ?skip_current_image=true without its preview.",
    "options": "What requests leave open.",
    "sd-models": "Models that requests may name.",
    "docs": "This page.",
    "openapi.json": "The description of all endpoints in OpenAPI.",
}
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
_STYLE = "body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}pre{background:#eee;padding:1em}"

Endpoints = Mapping[str, Collection[str]]  # methods by path


def openapi(endpoints: Endpoints) -> dict[str, object]:
    """The description of the endpoints in OpenAPI 3.1."""
    secured = {"bearer": {"type": "http", "scheme": "bearer"}, "basic": {"type": "http", "scheme": "basic"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Mezzotint", "version": __version__, "description": "A1111's endpoints"},
        "paths": {path: {one.lower(): _operation(path, one) for one in endpoints[path]} for path in endpoints},
        "components": {"securitySchemes": secured},
        "security": [{name: []} for name in secured],
    }


def page(endpoints: Endpoints) -> str:
    """The same for people, as HTML."""
    parts = [
        f"<h1>Mezzotint {html.escape(__version__)}</h1><p>Machines read <a href=openapi.json>openapi.json</a>.</p>"
    ]
    for path, methods in endpoints.items():
        for method in methods:
            summary, fields = described(path, method)
            parts.append(f"<h3>{html.escape(f'{method} {path}')}</h3><p>{html.escape(summary)}</p>")
            if fields:
                parts.append(f"<pre>{html.escape(json.dumps(fields, indent=1))}</pre>")
    return f"<!DOCTYPE html><html lang=en><title>Mezzotint</title><style>{_STYLE}</style>{''.join(parts)}</html>"


def described(path: str, method: str) -> tuple[str, Mapping[str, object]]:
    """What an endpoint is for, and an example of each field that it takes."""
    name = path.rpartition("/")[2]
    if method == "POST":
        return _POST.get(name, ("Nothing is to be done: folders are read with every request.", _NONE))
    return _GET.get(name, f"What there is: {name.replace('-', ' ').replace('_', ' ')}."), _NONE


def _operation(path: str, method: str) -> dict[str, object]:
    summary, fields = described(path, method)
    answers = {"200": {"description": "The answer"}, "default": {"description": 'An error: {"error", "detail"}'}}
    operation: dict[str, object] = {"summary": summary, "responses": answers}
    if method == "POST":
        schema = {"type": "object", "properties": {name: _schema(value) for name, value in fields.items()}}
        operation["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    return operation


def _schema(example: object) -> dict[str, object]:
    schema: dict[str, object] = {"type": _TYPES[type(example)], "examples": [example]}
    if isinstance(example, list):
        schema["items"] = {"type": _TYPES[type(example[0])]}
    if example == _IMAGE:
        schema["contentEncoding"] = "base64"
    return schema
