"""`mezzotint lora`: what is told, and what cannot be."""

import json

import pytest
import torch
from lora_files import kohya_tensors, random_lora, write_lora
from torch import nn

from mezzotint.cli import main
from mezzotint.cli.lora import written
from mezzotint.conversion.loras.extraction import ExtractedLora
from mezzotint.families.lora.file import LARGEST_RANK

NETWORKS = {"unet": nn.Sequential(nn.Conv2d(4, 8, 3), nn.Linear(16, 6))}


@pytest.fixture
def call(capsys):
    def run(*words):
        code = main(["lora", *map(str, words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def lora(tmp_path):
    def build(name, **about):
        tensors = kohya_tensors(random_lora(NETWORKS, ".", rank=4, alpha=2.0))
        return write_lora(tmp_path / f"{name}.safetensors", tensors, about)

    return build


def test_ranks_are_those_of_the_reader():
    """They stand in the command too, so that its help needs no torch."""
    assert written.LARGEST_RANK == LARGEST_RANK


def test_inspect(call, lora):
    path = lora("a", ss_network_dim="4", thumbnail="data:image/jpeg;base64,AAAA", evil="\x1b[2J\nboo", long="x" * 999)
    code, out, _ = call("inspect", path)
    rows = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert code == 0 and rows["kind"] == "LoRA" and rows["rank"] == "4" and rows["alpha"] == "2"
    assert rows["denoiser"].split() == ["layers", "2"] and rows["for"] == "not known"
    assert (
        rows["thumbnail"] == "image/jpeg, 27 bytes" and rows["evil"] == r"\x1b[2J\nboo" and rows["long"][-3:] == "..."
    )
    told = json.loads(call("inspect", path, "--json")[1])
    assert told["kinds"] == {"LoRA": 2} and told["metadata"]["long"] == "x" * 999 and told["ranks"] == [4]


def test_inspect_many_ranks_and_kinds(call, tmp_path):
    tensors = {"odd": torch.ones(1)}
    for rank in range(1, 12):
        tensors |= {f"lora_unet_{rank}.lora_down.weight": torch.ones(rank, 3)}
        tensors |= {f"lora_unet_{rank}.lora_up.weight": torch.ones(4, rank)}
    tensors |= {"lora_unet_0.lokr_w1": torch.ones(2, 2), "lora_unet_0.lokr_w2": torch.ones(2, 2)}
    _, out, _ = call("inspect", write_lora(tmp_path / "a.safetensors", tensors))
    assert "11 different ones, 1 to 11" in out and "11 LoRA, 1 LoKr" in out and "1, such as odd" in out
    only = {name: each for name, each in tensors.items() if "lokr" in name}
    assert "none" in call("inspect", write_lora(tmp_path / "b.safetensors", only))[1]


def test_merge_and_resize(call, lora, tmp_path):
    a, b, both, small = lora("a"), lora("b"), tmp_path / "both.safetensors", tmp_path / "small.safetensors"
    code, out, err = call("merge", f"{a}:0.5", b, "-o", both)
    assert (code, out) == (0, f"{both}\n") and "rank    8" in err and "energy" not in err
    code, out, _ = call("resize", both, "--rank", "2", "--dtype", "float16", "-o", small, "--json")
    told = json.loads(out)
    assert told["output"] == str(small) and (told["lowest_rank"], told["layers"]) == (2, 2) and 0 < told["kept"] < 1
    small.unlink()
    code, _, err = call("resize", both, "--keep", "0.5", "-o", small)
    assert code == 0 and "energy kept" in err


def test_what_was_left_out_is_told(capsys):
    made = ExtractedLora(output="x", layers=3, lowest_rank=1, highest_rank=4, bytes=9, kept=0.5, left_out=7)
    rows = written._rows(made)
    assert (
        rows["rank"] == "1 to 4" and rows["left out"].startswith("7 other tensors") and rows["energy kept"] == "50.00%"
    )


def test_extract(call, tiny_sdxl_folder, tiny_pixart_folder, tmp_path):
    code, _, err = call(
        "extract", tiny_pixart_folder, tiny_sdxl_folder, "--rank", "4", "-o", tmp_path / "a.safetensors"
    )
    assert code == 2 and "family pixart" in err
    code, _, err = call("extract", tiny_sdxl_folder, tiny_sdxl_folder, "--rank", "4", "-o", tmp_path / "a.safetensors")
    assert code == 5 and "same weights" in err


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("merge", "A", "-o", "x.safetensors"), 2, "two or more"),
        (("merge", "A", "A", "-o", "A"), 2, "exists already"),
        (("merge", "A", "A:heavy", "-o", "x.safetensors"), 2, "heavy"),
        (("merge", "A", "A"), 2, "-o"),
        (("resize", "A", "-o", "x.safetensors"), 2, "--rank"),
        (("resize", "A", "--rank", "0", "-o", "x.safetensors"), 2, "0"),
        (("resize", "A", "--rank", "4", "--keep", "0.5", "-o", "x.safetensors"), 2, "not allowed"),
        (("resize", "A", "--keep", "1.5", "-o", "x.safetensors"), 2, "'1.5' is not a share"),
        (("resize", "A", "--keep", "most", "-o", "x.safetensors"), 2, "'most' is not a share"),
        (("resize", "missing.safetensors", "--rank", "4", "-o", "x.safetensors"), 7, "missing.safetensors"),
        (("inspect", "old.pt"), 5, "pickle"),
        (("extract", "nobody", "A", "--rank", "4", "-o", "x.safetensors"), 2, "nobody"),
    ],
)
def test_what_cannot_be(call, lora, tmp_path, monkeypatch, words, code, reason):
    monkeypatch.chdir(tmp_path)
    path = lora("a")
    (tmp_path / "old.pt").write_bytes(b"\x80\x02}q\x00.")
    before = path.read_bytes()
    found, out, err = call(*(word.replace("A", str(path)) if word.startswith("A") else word for word in words))
    assert found == code and reason in err and not out
    assert path.read_bytes() == before and {each.name for each in tmp_path.iterdir()} == {"a.safetensors", "old.pt"}
