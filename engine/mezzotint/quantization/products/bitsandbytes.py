"""Products with NF4 weights by bitsandbytes' kernels, which read the format's tensors directly."""

import importlib
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import torch
from torch import Tensor

from mezzotint.dispatch.library import Preparation, Unavailable, Unsupported
from mezzotint.quantization.formats import Nf4
from mezzotint.quantization.fusion.around import Around
from mezzotint.quantization.linear import Branch, QuantizedWeight, with_branch
from mezzotint.quantization.nf4 import BLOCK, dynamic_values
from mezzotint.quantization.products.compiled import check_gradients, check_stored

Gemm: TypeAlias = Callable[..., Tensor]  # torch.ops.bitsandbytes.gemm_4bit

PACKAGE = "bitsandbytes"
INSTALL = "pip install 'bitsandbytes>=0.50'"
_NOTHING = Around()
_DTYPES = (torch.float16, torch.bfloat16, torch.float32)


class BitsAndBytesLinear:
    """bitsandbytes' kernels as a callable on tensors; it chooses between fused and dequantize-first itself."""

    def __init__(self, gemm: Gemm, device_type: str = "cuda") -> None:
        self.device_type, self._gemm = device_type, gemm

    def __call__(
        self,
        x: Tensor,
        weight: QuantizedWeight,
        bias: Tensor | None = None,
        branch: Branch | None = None,
        preparation: Preparation = Preparation.AS_IT_IS,
        around: Around = _NOTHING,
    ) -> Tensor:
        """Same as `linear`, for x `(..., k)`; raises Unsupported if there is no kernel."""
        if around.is_something:
            raise Unsupported("bitsandbytes has no product with a norm, gate or residual")
        self._check(x, weight, bias, branch, preparation)
        y = self._gemm(x, weight.tensors["weight"], list(weight.shape), bias=bias, **_magnitudes(weight, x.device))
        return with_branch(y, x, branch)

    def _check(
        self, x: Tensor, weight: QuantizedWeight, bias: Tensor | None, branch: Branch | None, preparation: Preparation
    ) -> None:
        """Raise Unsupported for inputs that the kernels would misread."""
        if not isinstance(weight.format, Nf4) or preparation is not Preparation.AS_IT_IS:
            raise Unsupported(f"bitsandbytes has no product for {weight.format} with {preparation.name}")
        if x.device.type != self.device_type or x.dtype not in _DTYPES or not x.numel():
            raise Unsupported(f"x is {x.dtype} {tuple(x.shape)} on {x.device}; bitsandbytes computes floating-point")
        for name, tensor in (*weight.tensors.items(), *([] if bias is None else [("bias", bias)])):
            check_stored(name, tensor, x)
        if bias is not None and bias.dtype != x.dtype:
            raise Unsupported(f"bias is {bias.dtype} and x {x.dtype}; they must have the same dtype")
        check_gradients(x, bias, branch)


def open_bitsandbytes(load: Callable[[str], ModuleType] = importlib.import_module) -> BitsAndBytesLinear:
    """Return the installed package's kernels; raises Unavailable, which says what is missing and what to do."""
    try:
        version = load(PACKAGE).__version__  # the attribute access triggers a lazy import
    except ImportError as error:
        raise Unavailable(f"bitsandbytes cannot be imported ({error}): {INSTALL}") from error
    except (OSError, RuntimeError, AttributeError) as error:  # libraries incompatible with this torch
        raise Unavailable(f"bitsandbytes cannot be loaded ({type(error).__name__}: {error}): {INSTALL}") from error
    gemm = getattr(torch.ops.bitsandbytes, "gemm_4bit", None)
    if gemm is None:
        raise Unavailable(f"bitsandbytes {version} has no gemm_4bit: {INSTALL}")
    warnings.filterwarnings("ignore", "inner dimension", UserWarning, PACKAGE)  # of widths that it dequantizes first
    return BitsAndBytesLinear(gemm)


def _magnitudes(weight: QuantizedWeight, device: torch.device) -> dict[str, Any]:
    """Keyword arguments for the block magnitudes; with double quantization `absmax` takes the nested ones."""
    tensors, told = weight.tensors, {"blocksize": BLOCK, "quant_type": "nf4"}
    if "nested_absmax" not in tensors:
        return {**told, "absmax": tensors["absmax"]}
    return {
        **told,
        "absmax": tensors["nested_absmax"],
        "absmax_8bit": tensors["absmax"],
        "absmax_code": dynamic_values(device),
        "absmax_offset": tensors["nested_offset"],
    }
