"""csrc/sweep.cpp: an instance is run by its number, or refused; over the stub of CUDA."""

import pytest
from attention_arguments import packed_attention_args
from launch_cases import DEVICE, STREAM, WORKSPACE
from linear_arguments import convolution_args, gated_args, linear_args
from stub_cuda import CARDS

from kernel_build.card.forced import CompiledInstances
from mezzotint_kernels.abi import AttentionFlags, Dtype
from mezzotint_kernels.errors import InvalidArgument, Unsupported

HALF_RATE = 0  # a device whose 32-bit sums are half as fast, and which multiplies 8-bit floats
COPIED = {
    "int8": AttentionFlags.INT8_SCORES,
    "flash-fp16": AttentionFlags.HALF_SUMS,
    "int8-all": AttentionFlags.INT8_SCORES | AttentionFlags.INT8_VALUES,
    "int8-fp8": AttentionFlags.INT8_SCORES | AttentionFlags.FP8_VALUES,
}

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


@pytest.fixture
def instances(cuda):
    cuda.insert(CARDS[89], CARDS[90])
    cuda.use(DEVICE)
    return CompiledInstances(cuda.library)


def use(cuda, device):
    """Make this device the current one."""
    cuda.use(device)
    return device


def fitting(wanted):
    changes = {"head_dim": wanted.head_dim, "dtype": Dtype[wanted.dtype.upper()], "nk": 32}
    if wanted.kind in COPIED:
        changes |= {"flags": COPIED[wanted.kind], "workspace": WORKSPACE, "workspace_bytes": 1 << 30}
    if wanted.masked:
        changes |= {"key_mask": 0x50000, "key_mask_stride": 32}
    return packed_attention_args(**changes)


def test_every_instance_of_attention_is_launched_by_its_number(cuda, instances):
    found = instances.attention()
    assert len(found) == len(list(cuda.instances())) > 10
    for instance, info in zip(found, cuda.instances(), strict=True):
        cuda.forget()
        device = use(cuda, HALF_RATE if instance.kind in ("flash-fp16", "int8-fp8") else DEVICE)
        instances.run_attention(fitting(instance), instance.number, device, STREAM)
        launch = cuda.launches[-1]
        assert (launch.kernel, launch.block[0], launch.stream) == (info.kernel, instance.threads, STREAM)
        assert len(cuda.launches) == (3 if instance.kind in COPIED else 1)


def test_an_instance_for_other_arguments_is_refused(cuda, instances):
    args = packed_attention_args()
    wide = next(each for each in instances.attention() if each.head_dim == 512)
    with pytest.raises(Unsupported, match=f"instance {wide.number} of attention is not for these arguments"):
        instances.run_attention(args, wide.number, DEVICE, STREAM)
    with pytest.raises(Unsupported, match="instance 9999 of attention"):
        instances.run_attention(args, 9999, DEVICE, STREAM)
    args.head_dim = -1
    with pytest.raises(InvalidArgument):
        instances.run_attention(args, 0, DEVICE, STREAM)
    assert cuda.launches == []


def test_every_instance_of_products_is_launched_by_its_number(cuda, instances):
    found = instances.linear()
    assert {each.scheme for each in found} == {"int8", "int4-lowrank", "int4-codebook", "int4-rot", "svdquant", "fp8"}
    assert len({each.name for each in found}) == len(found)
    for instance in found:
        cuda.forget()
        bits = {"weight_bits": instance.weight_bits, "x_bits": instance.x_bits}
        if instance.is_grouped:
            bits |= {"x_group_scales": 0xC0000, "x_group_scales_stride": 100}
            bits |= {"weight_group_scales": 0xD0000, "weight_group_scales_stride": 72}
        if instance.has_codebook:
            bits |= {"codebook": 0xE0000, "group_scales_stride": 16}
        bits |= {"floats": 1} if instance.floats else {}
        made = gated_args if instance.is_gated else convolution_args if instance.is_convolution else linear_args
        args = made(**bits, dtype=Dtype[instance.dtype.upper()])
        if instance.is_split:  # by the library's own choice only
            with pytest.raises(Unsupported):
                instances.run_linear(args, instance.number, use(cuda, DEVICE), STREAM)
            continue
        instances.run_linear(args, instance.number, use(cuda, HALF_RATE if instance.floats else DEVICE), STREAM)
        (launch,) = cuda.launches
        assert launch.block[0] == instance.threads


def test_products_of_other_weights_are_refused(cuda, instances):
    four = next(each for each in instances.linear() if each.weight_bits == 4)
    args = linear_args(weight_bits=8, dtype=Dtype[four.dtype.upper()])
    with pytest.raises(Unsupported, match=f"instance {four.number} of products is not for these arguments"):
        instances.run_linear(args, four.number, DEVICE, STREAM)
    assert cuda.launches == []
