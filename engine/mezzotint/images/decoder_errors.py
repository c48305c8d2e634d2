"""What Pillow's decoders raise on damaged files."""

import struct
import zlib

# Text-chunk bombs are ValueErrors, not OSErrors.
DECODER_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    EOFError,
    RuntimeError,
    MemoryError,
    struct.error,
    zlib.error,
)
