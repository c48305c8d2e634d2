"""ICC profiles made from their primaries."""

import struct


def icc(space, primaries):
    """A profile of three primaries and straight curves, or of grey; ICC.1:2001."""

    def xyz(values):
        return b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(value * 65536)) for value in values)

    curve = b"curv" + bytes(4) + struct.pack(">I", 1) + struct.pack(">H", round(1.0 * 256)) + bytes(2)
    text = b"desc" + bytes(4) + struct.pack(">I", 2) + b"x\0" + bytes(78 + 4)
    tags = {b"desc": text, b"cprt": b"text" + bytes(4) + b"none", b"wtpt": xyz((0.9642, 1.0, 0.8249))}
    if space == b"RGB ":
        tags |= {name + b"XYZ": xyz(value) for name, value in zip((b"r", b"g", b"b"), primaries, strict=True)}
        tags |= {name + b"TRC": curve for name in (b"r", b"g", b"b")}
    else:
        tags[b"kTRC"] = curve
    offset, table, data = 128 + 4 + 12 * len(tags), b"", b""
    for name, value in tags.items():
        value += bytes(-len(value) % 4)
        table += name + struct.pack(">II", offset + len(data), len(value))
        data += value
    head = struct.pack(">I4sI4s4s4s12x4s4xII", offset + len(data), bytes(4), 0x02100000, b"mntr", space, b"XYZ ",
                       b"acsp", 0, 0)  # fmt: skip
    head = head.ljust(68, b"\0") + struct.pack(">iii", 0xF6D6, 0x10000, 0xD32D)
    return head.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + data


RED, GREEN, BLUE = (0.4361, 0.2225, 0.0139), (0.3851, 0.7169, 0.0971), (0.1431, 0.0606, 0.7141)  # of sRGB, at D50
SWAPPED = icc(b"RGB ", (GREEN, RED, BLUE))
LINEAR_GREY = icc(b"GRAY", ())
