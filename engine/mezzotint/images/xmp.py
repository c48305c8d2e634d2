"""The XMP packet: IPTC's mark for AI-generated images, and our record for formats without text chunks."""

import html
import re

_SOURCE_TYPE = "http://cv.iptc.org/newscodes/digitalsourcetype/"
_NAMESPACE = "https://mezzotint.invalid/ns/1/"  # only an identifier; nothing is ever fetched
_RECORD = re.compile(rb"<mezzotint:record>([^<]*)</mezzotint:record>")

_PACKET = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"{namespace}>
   <Iptc4xmpExt:DigitalSourceType>{source}</Iptc4xmpExt:DigitalSourceType>{record}
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>"""


def xmp_packet(*, composite: bool, record: str | None = None) -> bytes:
    """The packet; `composite`: an input image is part of it; `record`: our JSON, for files without text chunks."""
    return _packet("compositeWithTrainedAlgorithmicMedia" if composite else "trainedAlgorithmicMedia", record)


def enhanced_packet() -> bytes:
    """The packet of an image from elsewhere that a network has enlarged."""
    return _packet("algorithmicallyEnhanced", None)


def _packet(kind: str, record: str | None) -> bytes:
    namespace = inner = ""
    if record is not None:
        namespace = f' xmlns:mezzotint="{_NAMESPACE}"'
        inner = f"\n   <mezzotint:record>{html.escape(record, quote=False)}</mezzotint:record>"
    return _PACKET.format(namespace=namespace, source=_SOURCE_TYPE + kind, record=inner).encode()


def record_in_xmp(packet: bytes) -> str | None:
    """Our JSON from a packet, extracted without an XML parser, which a hostile packet could attack."""
    found = _RECORD.search(packet)
    return html.unescape(found[1].decode("utf-8", "replace")) if found else None
