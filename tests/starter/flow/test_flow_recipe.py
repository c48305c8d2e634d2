import pytest

from mezzotint.errors import StorageError
from mezzotint_starter.flow.flow_recipe import load_encoders
from mezzotint_starter.plan import miniature


def test_the_text_encoders_of_the_others_are_needed_first(tmp_path):
    with pytest.raises(StorageError, match=r"dit.text_encoder is missing: make starter-dit and starter-xl first"):
        load_encoders(miniature(tmp_path / "work", tmp_path / "out", steps=1))
