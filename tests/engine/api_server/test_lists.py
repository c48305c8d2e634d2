"""What there is, in A1111's form."""

from mezzotint.api_server import lists
from mezzotint.protocol import MemoryNow

GB = 1 << 30


def test_memory_with_and_without_a_gpu():
    now = {"ram_bytes": GB, "ram_free_bytes": 6 * GB, "ram_total_bytes": 16 * GB}
    none = MemoryNow(**now, vram_bytes=None, vram_free_bytes=None, vram_total_bytes=None)
    assert lists.memory(none) == {
        "ram": {"free": 6 * GB, "used": 10 * GB, "total": 16 * GB},
        "cuda": {"error": "no GPU is in use"},
    }
    one = MemoryNow(**now, vram_bytes=GB, vram_free_bytes=5 * GB, vram_total_bytes=8 * GB)
    cuda = lists.memory(one)["cuda"]
    assert cuda["system"] == {"free": 5 * GB, "used": 3 * GB, "total": 8 * GB}
    assert cuda["allocated"]["current"] == GB
