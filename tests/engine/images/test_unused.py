from mezzotint.images.unused import unused_settings


def test_settings_are_named_and_information_is_not() -> None:
    other = {
        "Version": "v1.10.1",
        "Lora hashes": "a: 1",
        "Eta": "0.5",
        "ENSD": "0",
        "ADetailer model": "face.pt\nx",
        "loras": "[]",
        "sharpness": "2.0",
    }
    assert unused_settings(other) == ("Eta 0.5", "ADetailer model face.pt x", "sharpness 2.0")


def test_what_a_reader_has_read_is_not_named_and_long_values_are_cut() -> None:
    found = unused_settings({"loras": "style", "Remark": "x" * 500}, read=("loras",))
    assert len(found) == 1 and found[0].startswith("Remark xxx") and len(found[0]) == 80
