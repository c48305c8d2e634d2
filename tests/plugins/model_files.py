"""Handmade model files and folders of a few bytes: valid ones, and every kind of broken one."""

import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

SDXL_FILE_TENSORS = (
    "model.diffusion_model.label_emb.0.0.weight",
    "conditioner.embedders.0.transformer.text_model.embeddings.token_embedding.weight",
    "conditioner.embedders.1.model.text_projection",
    "first_stage_model.decoder.conv_in.weight",
)


def raw(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    """Return a safetensors file with this header, valid or not."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(start: int, end: int, shape: list[int] | None = None, dtype: str = "F32") -> dict[str, object]:
    """Return a header entry; the shape fits the offsets unless given."""
    return {
        "dtype": dtype,
        "shape": [(end - start) // 4] if shape is None else shape,
        "data_offsets": [start, end],
    }


def small(tensors: Mapping[str, list[int]] | None = None, metadata: Mapping[str, str] | None = None) -> bytes:
    """Return a valid safetensors file of float32 zeros, with a tensor per name and shape."""
    header: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    position = 0
    for name, shape in (tensors or {"weight": [2, 2]}).items():
        count = 4
        for side in shape:
            count *= side
        header[name] = entry(position, position + count, shape)
        position += count
    return raw(header, bytes(position))


def sdxl_file(path: Path) -> Path:
    """Write a file with the keys of an SDXL checkpoint in the original format."""
    shapes = {name: [1] for name in SDXL_FILE_TENSORS}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(small({"model.diffusion_model.input_blocks.0.0.weight": [2, 4, 1, 1], **shapes}))
    return path


def write_json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
    return path


def network(folder: Path, stem: str, config: Mapping[str, object]) -> None:
    """Write a component with weights."""
    write_json(folder / "config.json", config)
    (folder / f"{stem}.safetensors").write_bytes(small())


def sdxl_folder(path: Path, refiner: bool = False) -> Path:
    """Write a diffusers folder of SDXL base, or of its refiner."""
    index: dict[str, object] = {
        "_class_name": "StableDiffusionXLImg2ImgPipeline" if refiner else "StableDiffusionXLPipeline",
        "_diffusers_version": "0.42.1",
        "force_zeros_for_empty_prompt": True,
        "feature_extractor": [None, None],
        "image_encoder": [None, None],
        "scheduler": ["diffusers", "EulerDiscreteScheduler"],
        "text_encoder": [None, None] if refiner else ["transformers", "CLIPTextModel"],
        "text_encoder_2": ["transformers", "CLIPTextModelWithProjection"],
        "tokenizer": [None, None] if refiner else ["transformers", "CLIPTokenizer"],
        "tokenizer_2": ["transformers", "CLIPTokenizer"],
        "unet": ["diffusers", "UNet2DConditionModel"],
        "vae": ["diffusers", "AutoencoderKL"],
    }
    write_json(path / "model_index.json", index)
    _diffusers_parts(path, "unet", "UNet2DConditionModel", "EulerDiscreteScheduler")
    for number in ("_2",) if refiner else ("", "_2"):
        network(path / f"text_encoder{number}", "model", {"architectures": ["CLIPTextModel"]})
        write_json(path / f"tokenizer{number}" / "tokenizer_config.json", {"model_max_length": 77})
    return path


def pixart_folder(path: Path, settings: Mapping[str, object] | None = None) -> Path:
    """Write a diffusers folder of PixArt-Sigma."""
    index = {
        "_class_name": "PixArtSigmaPipeline",
        "scheduler": ["diffusers", "DPMSolverMultistepScheduler"],
        "text_encoder": ["transformers", "T5EncoderModel"],
        "tokenizer": ["transformers", "T5Tokenizer"],
        "transformer": ["diffusers", "PixArtTransformer2DModel"],
        "vae": ["diffusers", "AutoencoderKL"],
    }
    write_json(path / "model_index.json", index)
    _diffusers_parts(path, "transformer", "PixArtTransformer2DModel", "DPMSolverMultistepScheduler")
    network(path / "text_encoder", "model", {"architectures": ["T5EncoderModel"]})
    write_json(path / "tokenizer" / "tokenizer_config.json", {"model_max_length": 120})
    if settings is not None:
        write_json(path / "mezzotint.json", settings)
    return path


def _diffusers_parts(path: Path, name: str, class_name: str, scheduler: str) -> None:
    network(path / name, "diffusion_pytorch_model", {"_class_name": class_name, "sample_size": 128, "in_channels": 4})
    vae = {"_class_name": "AutoencoderKL", "block_out_channels": [128, 256, 512, 512]}
    network(path / "vae", "diffusion_pytorch_model", vae)
    scheduler_config = {"_class_name": scheduler, "prediction_type": "epsilon", "timestep_spacing": "leading"}
    write_json(path / "scheduler" / "scheduler_config.json", scheduler_config)


def change_json(path: Path, **changes: object) -> None:
    """Set keys of a JSON file."""
    write_json(path, {**json.loads(path.read_text("utf-8")), **changes})


def pickle_that_runs(marker: Path) -> bytes:
    """Return a pickle that creates a file when loaded, in raw opcodes."""
    command = f"open({str(marker)!r}, 'w').close()".encode()
    return b"\x80\x04cbuiltins\nexec\n(B" + struct.pack("<I", len(command)) + command + b"tR."


def torch_archive_that_runs(path: Path, marker: Path) -> Path:
    """Likewise, packed like the output of torch.save."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle_that_runs(marker))
        archive.writestr("archive/version", "3\n")
    return path


HOSTILE_HEADERS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "short": (b"\x10\0\0", "incomplete: 3 bytes cannot hold a header"),
    "zeros": (bytes(100_000), "nothing but zeros"),
    "header cut off": (raw(b'{"a": ', length=5000), "incomplete: .* of the header alone"),
    "header too large": (raw(b"{", length=150 * 10**6), "a header of 143.1 MB; at most 95.4 MB"),
    "header beyond all": (raw(b"{", length=2**63), "at most 95.4 MB are read"),
    "truncated": (raw({"a": entry(0, 4000)}, bytes(100)), r"incomplete: 0\.2 of 4\.0 kB"),
    "trailing": (raw({"a": entry(0, 4)}, bytes(9)), "5 bytes too many"),
    "overlap": (raw({"a": entry(0, 8), "b": entry(4, 12)}, bytes(12)), "'b' overlaps"),
    "the same place twice": (raw({"a": entry(0, 8), "b": entry(0, 8)}, bytes(8)), "'b' overlaps"),
    "gap": (raw({"a": entry(0, 4), "b": entry(8, 12)}, bytes(12)), "'b' leaves a gap"),
    "gap at the start": (raw({"a": entry(4, 8)}, bytes(8)), "'a' leaves a gap"),
    "shape too large": (raw({"a": entry(0, 4, [2])}, bytes(4)), "'a' takes 4 bytes; its shape needs 8"),
    "shape overflows": (raw({"a": entry(0, 4, [2**62, 2**62, 4])}, bytes(4)), "its shape needs too many"),
    "shape wraps to fit": (raw({"a": entry(0, 0, [2**32, 2**32])}), "its shape needs too many"),
    "shape negative": (raw({"a": entry(0, 4, [-1, -1])}, bytes(4)), "impossible shape"),
    "shape of truths": (raw({"a": entry(0, 4, [True])}, bytes(4)), "impossible shape"),  # type: ignore[list-item]
    "shape of fractions": (raw(b'{"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}}', bytes(4)), "impossible"),
    "rank 65": (raw({"a": entry(0, 4, [1] * 65)}, bytes(4)), "impossible shape"),
    "offsets reversed": (raw({"a": entry(4, 0, [1])}, bytes(4)), "impossible offsets"),
    "offsets negative": (raw({"a": entry(-4, 0, [1])}, bytes(4)), "impossible offsets"),
    "offsets too many": (raw(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}}'), "impossible offsets"),
    "unknown dtype": (raw({"a": entry(0, 4, dtype="F7")}, bytes(4)), "unknown dtype F7"),
    "dtype a list": (raw(b'{"a":{"dtype":[],"shape":[1],"data_offsets":[0,4]}}', bytes(4)), "unknown dtype"),
    "half a byte": (raw({"a": entry(0, 1, [1], "F4")}, bytes(1)), "'a' takes 1 bytes; its shape needs 0.5"),
    "a key twice": (raw(b'{"a":' + json.dumps(entry(0, 4)).encode() + b',"a":{}}'), "'a' appears twice"),
    "an inner key twice": (raw(b'{"a":{"dtype":"F32","dtype":"F32"}}'), "'dtype' appears twice"),
    "a key too few": (raw({"a": {"dtype": "F32", "shape": [1]}}, bytes(4)), "is not a dtype, a shape and two offsets"),
    "an entry that is none": (raw({"a": 5}), "is not a dtype, a shape and two offsets"),
    "deep": (raw(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "nested too deeply"),
    "deep, never closed": (raw(b'{"a":' * 100_000), "nested too deeply or never closed"),
    "deep in the metadata": (raw(b'{"__metadata__":' + b"[" * 5000 + b"]" * 5000 + b"}"), "nested too deeply"),
    "no tensors": (raw({}), "holds no tensors"),
    "metadata alone": (raw({"__metadata__": {"a": "b"}}), "holds no tensors"),
    "metadata no object": (raw({"__metadata__": [], "a": entry(0, 4)}, bytes(4)), "__metadata__ is not an object"),
    "metadata no text": (raw({"__metadata__": {"a": 1}, "b": entry(0, 4)}, bytes(4)), "'a' is not text"),
    "too many values": (raw(b'{"a":[' + b"0," * 6_000_001 + b"0]}"), "more than 6000000 values"),
    "a name with a line break": (raw({"a\nb": entry(4, 8)}, bytes(8)), r"'a\\nb' leaves a gap"),
    "a name that turns the line": (raw({"a\u202eb": entry(4, 8)}, bytes(8)), r"'a\\u202eb' leaves a gap"),
    "half a surrogate": (raw(b'{"\\ud800":{}}'), r"'\\ud800' is no proper text"),
    "not JSON": (raw(b"{oh no}"), "not proper JSON"),
    "not UTF-8": (raw(b'{"\xff":1}'), "not proper JSON"),
    "not a number": (raw(b'{"a":NaN}'), "NaN is not a JSON number"),
    "a number beyond all": (raw(b'{"a":1e999}'), "too large a number"),
    "a number of many digits": (raw(b'{"a":' + b"9" * 5000 + b"}"), "not proper JSON"),
    "two documents": (raw(b'{"a":{}}{}'), "not proper JSON"),
    "Git-LFS pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 6938078334\n",
        "a Git-LFS pointer.*git lfs pull",
    ),
    "web page": (b"\n\n<!DOCTYPE html><html><title>Log in</title>", r"a web page \(HTML\)"),
    "web page without a doctype": (b"\xef\xbb\xbf<HTML lang=en>", r"a web page \(HTML\)"),
    "answer of a server": (b'{"error": "Access denied"}', "JSON text, not a model"),
    "text": (b"Invalid username or password.", "text, not a model: it begins 'Invalid username or password.'"),
    "GGUF": (b"GGUF\x03\0\0\0" + bytes(100), "a GGUF file"),
    "zip": (b"PK\x03\x04" + bytes(100), "a zip archive, as PyTorch pickles are"),
    "old torch": (b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.", "a pickle, which can run code"),
    "tar": (b"name".ljust(257, b"\0") + b"ustar" + bytes(300), "a tar archive"),
    "gzip": (b"\x1f\x8b\x08" + bytes(60), "a compressed archive"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(60), "an HDF5 file"),
    "noise": (bytes(range(1, 200)), "not a safetensors file"),
}
