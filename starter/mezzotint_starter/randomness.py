"""Random numbers that depend only on (seed, phase, step): a run that was stopped goes on as if it had not been."""

import hashlib
import random

import torch


def step_generator(seed: int, phase: str, step: int) -> torch.Generator:
    """The torch generator (on the CPU, whatever the device) of one step of one phase."""
    digest = hashlib.sha256(f"{seed} {phase} {step}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "little"))


def step_random(seed: int, phase: str, step: int) -> random.Random:
    """Python's random numbers of one step of one phase."""
    return random.Random(f"{seed} {phase} {step}")
