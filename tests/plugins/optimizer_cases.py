"""All optimizers as parameters of a test; those whose packages are missing are skipped.

torchao is not among what `make setup` installs: diffusers would import it for every image.
"""

import importlib.util

import pytest

_PACKAGES = {"prodigy": "prodigyopt", "schedule-free": "schedulefree"}
if importlib.util.find_spec("torchao") is not None:
    _PACKAGES["adamw-4bit"] = "torchao"
INSTALLED = ("adamw", "adamw-8bit", "adamw-8bit-paged", "adafactor", "lion")
OPTIMIZERS = [
    *INSTALLED,
    *(pytest.param(name, marks=pytest.mark.requires_package(package)) for name, package in _PACKAGES.items()),
]
