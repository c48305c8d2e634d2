"""Wildcards in YAML files."""

import os

import pytest

from mezzotint.batch.tasks.wildcards import Wildcards
from mezzotint.batch.tasks.yaml_wildcards import yaml_wildcards
from mezzotint.errors import UsageError


def test_lists_are_named_by_their_keys(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "clothes.yaml").write_text("hats:\n  summer: [straw hat, 3::cap]\n  winter: [beanie]\nshoe: boot\n")
    (tmp_path / "inner" / "more.yml").write_text("hats:\n  winter:\n    - fur hat\n    - {no: text}\n- x: [\n"[:-8])
    found = yaml_wildcards(tmp_path)
    assert found == {"hats/summer": ("straw hat", "3::cap"), "hats/winter": ("beanie", "fur hat"), "shoe": ("boot",)}
    assert Wildcards(tmp_path).every("__hats/*__ __shoe__") == (
        "straw hat boot",
        "cap boot",
        "beanie boot",
        "fur hat boot",
    )


@pytest.mark.parametrize("text", ["a: &b [x]\nc: *b\n", "a: [", "a: !!python/object:os.system x", "[" * 5000])
def test_files_that_cannot_be_used(tmp_path, text):
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(UsageError, match=r"the wildcards in .*bad\.yaml cannot be read"):
        Wildcards(tmp_path).every("__c__")


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_links_out_of_the_folder_are_not_followed(tmp_path):
    (tmp_path / "secret.yaml").write_text("a: [secret]")
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    assert yaml_wildcards(tmp_path / "w") == {}
