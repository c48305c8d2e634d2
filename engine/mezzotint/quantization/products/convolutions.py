"""Convolutions of 3x3 with 8-bit inputs by the kernel library: one kernel quantizes pixels, the other multiplies."""

import torch
from torch import Tensor

from mezzotint.dispatch.launching import launch
from mezzotint.dispatch.library import Preparation, ProductLibrary, Unsupported
from mezzotint.quantization.convolution import ConvGeometry
from mezzotint.quantization.linear import QuantizedWeight
from mezzotint.quantization.products.compiled import CompiledLinear, QuantizedRows, readable_rows

_DTYPES = {torch.float16: 0, torch.bfloat16: 1}  # MztDtype of kernels/csrc/api.h
_ALIGNMENT = 16  # bytes
_GEOMETRY = {"padding": (1, 1), "dilation": (1, 1), "groups": 1}


class CompiledConvolution:
    """The library's convolution as a callable on tensors; the same bits each time."""

    def __init__(self, library: ProductLibrary) -> None:
        self.device_type = library.device_type
        self._linear = CompiledLinear(library)

    def __call__(self, x: Tensor, weight: QuantizedWeight, bias: Tensor | None, geometry: ConvGeometry) -> Tensor:
        """Convolve x `(b, c, h, w)`, each pixel of which is rounded to 8 bits; the result is in channels_last.

        Raises Unsupported if there is no kernel. Copies x and the weight if they are not in channels_last. Does not
        synchronize with the device.
        """
        _check(self.device_type, x, weight, bias, geometry)
        pixels = readable_rows(x.permute(0, 2, 3, 1))
        rows = self._linear.quantize(pixels, x.shape[1], 0, Preparation.AS_IT_IS)
        return self._convolve(rows, x.shape, weight, bias, geometry.stride[0])

    def _convolve(
        self, x: QuantizedRows, shape: torch.Size, weight: QuantizedWeight, bias: Tensor | None, stride: int
    ) -> Tensor:
        batch, channels, height, width = shape
        n = weight.shape[0]
        sides = [(side - 1) // stride + 1 for side in (height, width)]
        out = torch.empty((batch, *sides, n), dtype=x.dtype, device=x.values.device)
        if not out.numel():
            return out.permute(0, 3, 1, 2)
        codes = weight.tensors["weight"].permute(0, 2, 3, 1).contiguous()
        arguments = self._linear.library.new_linear_arguments()
        arguments.dtype, arguments.weight_bits, arguments.x_bits = _DTYPES[x.dtype], 8, 8
        arguments.rows, arguments.in_columns, arguments.out_columns = out.numel() // n, channels, n
        arguments.x, arguments.x_stride, arguments.x_scales = x.values.data_ptr(), channels, x.scales.data_ptr()
        arguments.weight, arguments.weight_stride = codes.data_ptr(), codes.stride(0)
        arguments.weight_scales = weight.tensors["weight_scale"].data_ptr()
        arguments.bias = None if bias is None else bias.data_ptr()
        arguments.image_height, arguments.image_width, arguments.image_stride = height, width, stride
        arguments.out, arguments.out_stride = out.data_ptr(), n
        if codes.data_ptr() % _ALIGNMENT:
            raise Unsupported(f"the weight is misaligned; the kernels need an alignment of {_ALIGNMENT} bytes")
        # Torch's allocator reuses memory in stream order, so freeing the codes after the launch is safe.
        launch(self._linear.library.multiply, arguments, out.device)
        return out.permute(0, 3, 1, 2)


def _check(device_type: str, x: Tensor, weight: QuantizedWeight, bias: Tensor | None, geometry: ConvGeometry) -> None:
    """Raise Unsupported for what the library cannot see, or would report in terms that users do not know."""
    _check_geometry(geometry)
    if x.device.type != device_type:
        raise Unsupported(f"x is on {x.device}; the kernels run on {device_type}")
    if x.dtype not in _DTYPES:
        raise Unsupported(f"x is {x.dtype}; the kernels take torch.float16 and torch.bfloat16")
    if x.ndim != 4 or x.shape[1] != weight.shape[1]:
        raise ValueError(f"x is {tuple(x.shape)}, and the layer takes {weight.shape[1]} channels")
    for name, tensor in (*weight.tensors.items(), *([] if bias is None else [("bias", bias)])):
        if tensor.device != x.device:
            raise Unsupported(f"{name} is on {tensor.device} and x on {x.device}")
    if bias is not None and (bias.dtype != x.dtype or not bias.is_contiguous()):
        raise Unsupported(f"bias is {bias.dtype} with strides {bias.stride()}, and x {x.dtype}")


def _check_geometry(geometry: ConvGeometry) -> None:
    for name, wanted in _GEOMETRY.items():
        if getattr(geometry, name) != wanted:
            raise Unsupported(f"the convolution has a {name} of {getattr(geometry, name)}; the kernels take {wanted}")
    if geometry.stride not in ((1, 1), (2, 2)):
        raise Unsupported(f"the convolution has strides {geometry.stride}; the kernels take 1 and 2")
