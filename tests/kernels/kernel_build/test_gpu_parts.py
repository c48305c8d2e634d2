"""Each part's rows are of its own benchmark."""

from kernel_build.gpu_parts import PARTS

from kernel_build.results import Place

PLACE = Place(gpu="Paper Card", commit="abc1234", date="2026-11-21", command="make gpu-check")


def test_attention_remembers_the_plain_kernel_of_one_run_only():
    measured = {"shape": "SDXL, 64x64", "batch": 2, "heads": 10, "nq": 8, "nk": 8, "head_dim": 64, "dtype": "float16"}
    measured |= {"tflops": 1.0, "ratio": None, "peak_bytes": None, "error": None, "problem": None}
    plain = measured | {"implementation": "mezzotint flash", "milliseconds": 2.0}
    int8 = measured | {"implementation": "mezzotint int8", "milliseconds": 1.0}
    row_of = PARTS["kernels"].new_row_of()
    row_of(plain, PLACE)
    assert "2.00 times mezzotint flash" in row_of(int8, PLACE).figure
    assert "times mezzotint flash" not in PARTS["kernels"].new_row_of()(int8, PLACE).figure
