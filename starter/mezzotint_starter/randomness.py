"""Random numbers that depend only on (seed, phase, step), so that a resumed run equals an uninterrupted one."""

import hashlib
import random

import torch


def step_generator(seed: int, phase: str, step: int) -> torch.Generator:
    """Return the torch generator of one step of one phase; on the CPU, whatever the device."""
    digest = hashlib.sha256(f"{seed} {phase} {step}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "little"))


def step_random(seed: int, phase: str, step: int) -> random.Random:
    """Return the Python random generator of one step of one phase."""
    return random.Random(f"{seed} {phase} {step}")
