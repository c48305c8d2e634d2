"""The machine as planning sees it: sizes and speeds, of which free memory alone changes from moment to moment."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """Bytes, bytes per second and operations per second."""

    device: str  # cpu, cuda:0, xpu:0, mps
    device_name: str
    architecture: str  # sm_86, gfx1100, xe, apple; empty on a processor
    vram_bytes: int  # what the card has, or the limit that was set; on a processor without a limit the RAM
    free_vram_bytes: int  # of it, that nobody else holds now
    context_bytes: int  # of the driver and libraries, never ours to use
    ram_bytes: int  # that this process may have: of the machine, its control group, or the limit
    free_ram_bytes: int
    pin_bytes: int  # that may be page-locked; 0: none
    copy_rate: float  # host to device, pinned
    pageable_rate: float  # host to device, not pinned
    disk_rate: float
    speed: float  # of 16-bit products, as they run in networks
    int8_speedup: float = 1.0  # of 8-bit products over those
    bandwidth: float = math.inf  # of the device's own memory
    launch_seconds: float = 0.0  # of the host for a block of layers: no pass takes less
    simulated: bool = False  # a limit on a processor: an arena of that size in RAM stands for a card's memory
    process_bytes: int = 2**30  # of RAM, that Python and the libraries take before any weights
    shares_ram: bool = False  # the device is a GPU whose memory is the machine's
    expected_of: str = ""  # what the speeds are expected of, where they were not measured
    link_measured: bool = False
    notes: tuple[str, ...] = ()  # what others hold; limits that were clipped

    @property
    def one_memory(self) -> bool:
        """Whether what is on the device lies in RAM too."""
        return self.shares_ram or self.device == "cpu"
