"""Several layers with the same input by one product: queries, keys and values, with norms and rotations of heads."""

from mezzotint.dispatch.library import Arguments
from mezzotint.quantization.linear import JoinedWeight

COLUMNS = 128  # of which the outputs of each layer are a multiple
HEAD_SIZES = (64, 128)
_NORM, _ROTATE = 1, 2  # MztLinearPart.flags of kernels/csrc/api.h


def point_to_parts(arguments: Arguments, weight: JoinedWeight) -> None:
    """Fill in the weights of 8 bits, biases and heads."""
    heads = weight.heads
    arguments.weight_bits, arguments.part_count = 8, len(weight.parts)
    arguments.weight_stride = weight.shape[1]
    for number, (part, bias) in enumerate(zip(weight.parts, weight.biases, strict=True)):
        into = arguments.parts[number]
        into.weight, into.weight_scales = part.tensors["weight"].data_ptr(), part.tensors["weight_scale"].data_ptr()
        into.bias, into.out_columns = 0 if bias is None else bias.data_ptr(), part.shape[0]
        if heads is not None and heads.parts[number]:
            norm = heads.norms[number]
            into.flags = (_NORM if heads.epsilon is not None else 0) | (_ROTATE if heads.rotations is not None else 0)
            into.norm_weight = 0 if norm is None else norm.data_ptr()
    if heads is not None:
        arguments.head_dim, arguments.epsilon = heads.size, heads.epsilon or 0.0
        if heads.rotations is not None:
            arguments.rotations, arguments.rotation_rows = heads.rotations.data_ptr(), len(heads.rotations)
