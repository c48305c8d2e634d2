"""The structs of abi.py against those that a C compiler lays out from csrc/api.h and the headers beside it."""

import ctypes
import re
import subprocess

import pytest

from mezzotint_kernels import abi, block_scaled_abi, group_norm_abi, linear_attention_abi

pytestmark = pytest.mark.requires_command("gcc", "sudo apt-get install gcc")

STRUCTS = {
    "MztDropout": abi.Dropout,
    "MztBlockTable": abi.BlockTableArgs,
    "MztAttentionArgs": abi.AttentionArgs,
    "MztAttentionBackwardArgs": abi.AttentionBackwardArgs,
    "MztAttentionPlan": abi.AttentionPlanStruct,
    "MztQuantizeArgs": abi.QuantizeArgs,
    "MztLinearPart": abi.LinearPart,
    "MztLinearArgs": abi.LinearArgs,
    "MztGroupNormArgs": group_norm_abi.GroupNormArgs,
    "MztLinearAttentionArgs": linear_attention_abi.LinearAttentionArgs,
    "MztBlockScaledQuantizeArgs": block_scaled_abi.BlockScaledQuantizeArgs,
    "MztBlockScaledLinearArgs": block_scaled_abi.BlockScaledLinearArgs,
    "MztDevice": abi.DeviceStruct,
}
HEADERS = ("api.h", "backward_api.h", "group_norm_api.h", "linear_attention_api.h", "block_scaled_api.h")
ENUMS = {
    "MztStatus": abi.Status,
    "MztDtype": abi.Dtype,
    "MztAttentionArgs.flags": abi.AttentionFlags,
    "MztBlockTable.col": abi.BlockTableFlags,
    "MztPreparation": abi.Preparation,
    "MztLinearPart.flags": abi.PartFlags,
    "MztActivation": abi.Activation,
    "MztFeatureMap": linear_attention_abi.FeatureMap,
    "MztBlockFormat": block_scaled_abi.BlockFormat,
}


@pytest.fixture(scope="module")
def header(root):
    return "".join((root / "kernels/csrc" / name).read_text("utf-8") for name in HEADERS)


@pytest.fixture(scope="module")
def compiled(root, tmp_path_factory):
    """Run a C program that prints lines of words, as the compiler sees the headers."""
    folder = tmp_path_factory.mktemp("layout")

    def run(statements):
        source = folder / "layout.c"
        lines = [
            "#include <stddef.h>",
            "#include <stdio.h>",
            *(f'#include "{name}"' for name in HEADERS),
            "int main(void) {",
            *statements,
        ]
        source.write_text("\n".join([*lines, "return 0; }"]))
        flags = ["-std=c99", "-pedantic", "-Wall", "-Werror", f"-I{root / 'kernels/csrc'}"]
        subprocess.run(["gcc", *flags, "-o", folder / "layout", source], check=True)
        said = subprocess.run([folder / "layout"], check=True, capture_output=True, text=True).stdout
        return [line.split() for line in said.splitlines()]

    return run


def test_every_field_is_where_the_compiler_puts_it(compiled):
    statements = []
    for name, struct in STRUCTS.items():
        statements.append(f'printf("{name} . 0 %zu\\n", sizeof({name}));')
        statements += [
            f'printf("{name} {field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));'
            for field, *_ in struct._fields_
        ]
    seen = {(struct, field): (int(offset), int(size)) for struct, field, offset, size in compiled(statements)}
    ours = {(name, "."): (0, ctypes.sizeof(struct)) for name, struct in STRUCTS.items()}
    for name, struct in STRUCTS.items():
        for field, *_ in struct._fields_:
            ours[name, field] = (getattr(struct, field).offset, getattr(struct, field).size)
    assert seen == ours


def test_no_field_is_left_out(header):
    for name, struct in STRUCTS.items():
        body = re.sub(
            r"/\*.*?\*/", "", re.search(rf"struct {name} {{(.*?)}} {name};", header, re.DOTALL)[1], flags=re.DOTALL
        )
        declared = [re.search(r"(\w+)(\[\w+\])?$", part.strip())[1] for part in re.split(r"[;,]", body) if part.strip()]
        assert declared == [field for field, *_ in struct._fields_]


def test_numbers_are_those_of_the_header(compiled):
    names = {f"MZT_{member.name}": int(member) for numbers in ENUMS.values() for member in numbers}
    names["MZT_ABI_VERSION"] = abi.ABI_VERSION
    seen = compiled([f'printf("{name} %u\\n", (unsigned){name});' for name in names])
    assert {name: int(value) for name, value in seen} == names


def test_no_number_is_left_out(header):
    declared = set(re.findall(r"\b(MZT_[A-Z0-9_]+) = ", header))
    assert declared == {f"MZT_{member.name}" for numbers in ENUMS.values() for member in numbers}


def test_structs_are_made_with_their_size_and_version():
    for name, struct in STRUCTS.items():
        if name in ("MztDropout", "MztLinearPart"):  # parts of others
            continue
        made = struct()
        assert (made.size, made.abi) == (ctypes.sizeof(struct), abi.ABI_VERSION)
