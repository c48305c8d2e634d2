import torch

from mezzotint_starter import precision


def test_a_processor_without_native_products_keeps_float32(monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
    assert precision.choose_precision("cpu") == "float32"


def test_a_processor_with_native_products_uses_them(monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    assert precision.choose_precision("cpu") == "bfloat16"


def test_only_products_are_rounded():
    ones = torch.ones(4, 4)
    with precision.autocast("cpu", "bfloat16"):
        assert (ones @ ones).dtype == torch.bfloat16
    with precision.autocast("cpu", "float32"):
        assert (ones @ ones).dtype == torch.float32
