"""What travels to a Ray node, and back."""

import hashlib
from dataclasses import replace

import pytest
from batch_programs import task
from fake_engine import result_of
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.ray.content_hashes import Need
from mezzotint.batch.ray.parcel import (
    Answer,
    Parcel,
    Reply,
    packed,
    parcel_from_wire,
    parcel_to_wire,
    reply_from_wire,
    reply_to_wire,
    together,
)
from mezzotint.errors import ImageRefused, ProtocolError, StorageError
from mezzotint.protocol import Failure, GenerateRequest, ImageInput

words = st.text(max_size=20)
image_files = st.dictionaries(st.binary(max_size=9), st.none(), max_size=3).map(
    lambda found: {hashlib.sha256(data).hexdigest(): data for data in found}
)
requests = st.builds(GenerateRequest, prompt=words, seed=st.integers(0, 2**63 - 1))
needs = st.builds(Need, kind=st.sampled_from(["model", "file"]), name=words, sha256=words)
failures = st.builds(Failure, kind=words, message=words)
answers = st.one_of(
    st.builds(Answer, failure=failures),
    st.builds(Answer, result=requests.map(lambda one: result_of(one, [])), images=st.tuples(st.binary(max_size=9))),
)


@given(st.builds(Parcel, requests=st.tuples(requests), images=image_files, needs=st.tuples(needs)))
def test_a_parcel_arrives_as_it_was_sent(parcel):
    assert parcel_from_wire(parcel_to_wire(parcel)) == parcel


@given(st.builds(Reply, answers=st.lists(answers, max_size=3).map(tuple), unusable=words, lost=words))
def test_a_reply_arrives_as_it_was_sent(reply):
    assert reply_from_wire(reply_to_wire(reply)) == reply


@pytest.mark.parametrize("wire", [{}, {"answers": None}, {"answers": [{}], "unusable": "", "lost": ""}, [], None])
def test_what_is_no_reply_is_told(wire):
    with pytest.raises(ProtocolError):
        reply_from_wire(wire)


def test_images_travel_by_what_is_in_them_and_each_once(tmp_path):
    for name in ("a.png", "b.png", "same as a.png"):
        (tmp_path / name).write_bytes(name.replace("same as ", "").encode())
    parcels = [packed(asking(tmp_path / name)) for name in ("a.png", "b.png", "same as a.png")]
    parcel = together(parcels, ())
    assert sorted(parcel.images.values()) == [b"a.png", b"b.png"]
    assert [parcel.images[one.images[0].path] for one in parcel.requests] == [b"a.png", b"b.png", b"a.png"]
    assert str(tmp_path) not in "".join(parcel_to_wire(parcel)["requests"])  # no paths of this machine but models'


def test_an_image_that_is_damaged_on_its_way_is_not_used(tmp_path):
    (tmp_path / "a.png").write_bytes(b"content")
    wire = parcel_to_wire(packed(asking(tmp_path / "a.png")))
    wire["images"] = dict.fromkeys(wire["images"], b"Content")
    with pytest.raises(ProtocolError, match="arrived damaged"):
        parcel_from_wire(wire)


def test_an_image_that_has_changed_or_is_gone_or_is_none_is_told_by_its_name(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"new")
    with pytest.raises(ImageRefused, match=r"a\.png has changed"):
        packed(asking(path, sha256="1" * 64))
    path.unlink()
    with pytest.raises(StorageError, match=r"a\.png does not exist"):
        packed(asking(path))


def test_images_that_are_too_large_are_told_and_never_read_whole(tmp_path):
    path = tmp_path / "a.png"
    with open(path, "wb") as file:
        file.truncate(5 << 20)
    with pytest.raises(ImageRefused, match=r"a\.png: images of 5 MB are too large .*at most 4 MB"):
        packed(asking(path), max_bytes=4 << 20)
    mask = tmp_path / "mask.png"
    mask.write_bytes(b"1" * (3 << 20))
    path.write_bytes(b"0" * (3 << 20))
    both = asking(path)
    both = replace(both, images=(*both.images, ImageInput(path=str(mask), role="mask")))
    with pytest.raises(ImageRefused, match="6 MB"):
        packed(both, max_bytes=4 << 20)


def asking(path, sha256=None):
    return replace(task(1, path.parent).request, images=(ImageInput(path=str(path), sha256=sha256),))
