from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.images.xmp import enhanced_packet, record_in_xmp, xmp_packet

DIGITAL_SOURCE_TYPE = "{http://iptc.org/std/Iptc4xmpExt/2008-02-29/}DigitalSourceType"


def source_type(packet: bytes) -> str:
    body = packet.decode().partition("?>")[2].rpartition("<?")[0]
    found = next(ElementTree.fromstring(body).iter(DIGITAL_SOURCE_TYPE))
    return found.text or ""


@pytest.mark.parametrize(
    ("composite", "kind"), [(False, "trainedAlgorithmicMedia"), (True, "compositeWithTrainedAlgorithmicMedia")]
)
def test_an_xml_reader_finds_what_iptc_names(composite: bool, kind: str) -> None:
    assert source_type(xmp_packet(composite=composite)) == f"http://cv.iptc.org/newscodes/digitalsourcetype/{kind}"


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_any_record_comes_back(record: str) -> None:
    packet = xmp_packet(composite=False, record=record)
    assert record_in_xmp(packet) == record
    assert source_type(packet).endswith("/trainedAlgorithmicMedia")


def test_a_packet_without_record_has_none() -> None:
    assert record_in_xmp(xmp_packet(composite=False)) is None
    assert record_in_xmp(b"<mezzotint:record>" * 10_000) is None


def test_what_a_network_has_enlarged_is_marked_as_such():
    packet = enhanced_packet()
    assert packet.count(b"algorithmicallyEnhanced") == 1 and record_in_xmp(packet) is None
