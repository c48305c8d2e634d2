"""All optimizers as parameters of a test; those whose packages are missing are skipped."""

import pytest

_PACKAGES = {"adamw-4bit": "torchao", "prodigy": "prodigyopt", "schedule-free": "schedulefree"}
INSTALLED = ("adamw", "adamw-8bit", "adamw-8bit-paged", "adafactor", "lion")
OPTIMIZERS = [
    *INSTALLED,
    *(pytest.param(name, marks=pytest.mark.requires_package(package)) for name, package in _PACKAGES.items()),
]
