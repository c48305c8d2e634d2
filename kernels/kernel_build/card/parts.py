"""The parts of gpu-check, in order; each runs in its own processes with its own time limits."""

from dataclasses import dataclass

from kernel_build.card.process import Limits

_KERNELS = "tests/kernels/csrc"
_ENGINE = "tests/engine"
_TESTS = Limits(item=90, part=150)
_TIMES = Limits(item=60, part=240)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A set of items, run by one kind of worker."""

    name: str
    kind: str  # of worker.KINDS
    words: tuple[str, ...] = ()
    limits: Limits
    sanitizer: str = ""  # the compute-sanitizer tool to run under
    needs: tuple[str, ...] = ()  # packages


PARTS = (
    Part(name="sanitizer-memcheck", kind="small_set", limits=Limits(item=60, part=120), sanitizer="memcheck"),
    Part(name="sanitizer-racecheck", kind="small_set", limits=Limits(item=60, part=120), sanitizer="racecheck"),
    Part(name="tests-quantize", kind="tests", words=(f"{_KERNELS}/test_quantize_gpu.py",), limits=_TESTS),
    Part(
        name="tests-linear",
        kind="tests",
        words=(f"{_KERNELS}/test_gemm_gpu.py", f"{_KERNELS}/test_gemm_block_scaled_gpu.py"),
        limits=_TESTS,
    ),
    Part(name="tests-attention", kind="tests", words=(f"{_KERNELS}/test_attention_gpu.py",), limits=_TESTS),
    Part(name="tests-backward", kind="tests", words=(f"{_KERNELS}/test_attention_backward_gpu.py",), limits=_TESTS),
    Part(
        name="tests-kernelized",
        kind="tests",
        words=(f"{_KERNELS}/test_linear_attention_gpu.py", f"{_KERNELS}/test_group_norm_gpu.py"),
        limits=_TESTS,
    ),
    Part(
        name="tests-engine",
        kind="tests",
        words=(
            f"{_ENGINE}/attention/test_compiled_card.py",
            f"{_ENGINE}/quantization/products/test_compiled_card.py",
            f"{_ENGINE}/memory/test_device.py",
            f"{_ENGINE}/memory/machine/test_rates.py",
        ),
        limits=_TESTS,
    ),
    Part(name="times-attention", kind="attention", limits=_TIMES),
    Part(name="times-backward", kind="backward", limits=_TIMES),
    Part(name="times-kernelized", kind="kernelized", limits=_TIMES),
    Part(name="times-decoding", kind="decoding", limits=_TIMES, needs=("diffusers",)),
    Part(name="times-linear", kind="linear", limits=_TIMES),
    Part(name="times-fused", kind="fused", limits=_TIMES),
    Part(name="sweep-attention", kind="sweep", words=("attention",), limits=_TIMES),
    Part(name="sweep-linear", kind="sweep", words=("linear",), limits=_TIMES),
    Part(name="jobs-streaming", kind="streaming", limits=Limits(item=300, part=450)),
    Part(name="jobs-memory", kind="memory", limits=Limits(item=420, part=500), needs=("diffusers",)),
)
GROUPS = tuple(dict.fromkeys(part.name.partition("-")[0] for part in PARTS))


def chosen(words: tuple[str, ...]) -> list[Part]:
    """Return the parts named by `words`, or all if empty; a word is a part's full name or either half of it."""
    return [part for part in PARTS if not words or any(_is_named(part.name, word) for word in words)]


def unknown(words: tuple[str, ...]) -> list[str]:
    """Return the words that name no part."""
    return [word for word in words if not any(_is_named(part.name, word) for part in PARTS)]


def _is_named(name: str, word: str) -> bool:
    return word == name or word in name.split("-")
