"""Images that come from a Ray node, on their way to the disk."""

from dataclasses import replace

import pytest
from batch_programs import StandIn, painted, task
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from ray_programs import content_hashes

from mezzotint.batch.ray.delivery import delivered
from mezzotint.batch.ray.node import Node
from mezzotint.batch.ray.parcel import packed, parcel_to_wire, reply_from_wire
from mezzotint.errors import ProtocolError, StorageError
from mezzotint.protocol import ControlRef, ControlUsed, FileUsed, ImageInput
from mezzotint.values.regions import RegionRef


def answer_to(request):
    return reply_from_wire(Node(StandIn, content_hashes()).make(parcel_to_wire(packed(request)))).answers[0]


def written_to(request, path, **changes):
    return replace(request, output=replace(request.output, path=str(path), **changes))


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    """A request and what a node answers, for tests that change one of them."""
    folder = tmp_path_factory.mktemp("sent")
    request = task(1, folder).request
    return written_to(request, folder / "1.png"), answer_to(request)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_it_is_the_file_that_an_engine_here_would_have_written(tmp_path, suffix):
    photo = tmp_path / "photo.png"
    painted(5).save(photo)
    digest = (
        packed(replace(task(1, tmp_path).request, images=(ImageInput(path=str(photo)),))).requests[0].images[0].sha256
    )
    control = ControlRef(
        image=str(photo), model="net.safetensors", image_sha256=digest, mask=str(photo), mask_sha256=digest
    )
    image = ImageInput(path=str(photo), sha256=digest)
    region = RegionRef(mask=str(photo), prompt="a", mask_sha256=digest)
    request = replace(task(1, tmp_path).request, images=(image,), controls=(control,), regions=(region,))
    here = StandIn().write(written_to(request, tmp_path / "here" / f"a{suffix}"))
    result = delivered(written_to(request, tmp_path / "there" / f"a{suffix}"), answer_to(request))
    assert (tmp_path / "there" / f"a{suffix}").read_bytes() == (tmp_path / "here" / f"a{suffix}").read_bytes()
    assert result.images == (replace(here, path=str(tmp_path / "there" / f"a{suffix}")),)


@pytest.mark.parametrize(("overwrite", "names"), [(False, ["1-1.png", "1.png"]), (True, ["1.png"])])
def test_a_name_that_is_taken(sent, tmp_path, overwrite, names):
    (tmp_path / "1.png").write_bytes(b"precious")
    result = delivered(written_to(sent[0], tmp_path / "1.png", overwrite=overwrite), sent[1])
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert ((tmp_path / "1.png").read_bytes() == b"precious") is not overwrite
    assert result.images[0].path == str(tmp_path / names[0])


@given(data=st.data())
def test_what_is_damaged_is_never_written_as_something_else(sent, data):
    request, answer = sent
    content = bytearray(answer.images[0])
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    cut = bytes(content[: data.draw(st.integers(0, len(content)))])
    path = request.output.path
    for damaged in (bytes(content), cut):
        try:
            result = delivered(written_to(request, path, overwrite=True), replace(answer, images=(damaged,)))
        except ProtocolError:
            assert damaged != answer.images[0]
        else:
            with Image.open(result.images[0].path) as image:
                assert image.tobytes() == painted(1).tobytes()


def test_as_many_must_come_as_were_asked_for(sent):
    for images in ((), sent[1].images * 2):
        with pytest.raises(ProtocolError):
            delivered(sent[0], replace(sent[1], images=images))
    with pytest.raises(ProtocolError):
        delivered(sent[0], replace(sent[1], result=None))


def test_a_disk_that_refuses_is_told_as_that(sent, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError):
        delivered(written_to(sent[0], tmp_path / "file" / "1.png"), sent[1])


def test_control_images_have_their_local_paths_in_the_result(tmp_path, sent):
    photo = tmp_path / "photo.png"
    painted(5).save(photo)
    there = FileUsed(path="/node/given-00", sha256="00", bytes=1)
    used = ControlUsed(file=there, image=there, weight=1.0, start=0.0, end=1.0, type=None, preprocess="none")
    request = replace(sent[0], controls=(ControlRef(image=str(photo), model="net", image_sha256="00"),))
    stages = tuple(replace(stage, controls=(used,)) for stage in sent[1].result.stages)
    answer = replace(sent[1], result=replace(sent[1].result, stages=stages))
    result = delivered(written_to(request, tmp_path / "1.png"), answer)
    assert [stage.controls[0].image.path for stage in result.stages] == [str(photo)] * len(stages)
    assert [stage.controls[0].file for stage in result.stages] == [there] * len(stages)
