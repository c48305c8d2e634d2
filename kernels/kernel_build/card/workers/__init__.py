"""Workers: each does one kind of parts of gpu-check, in a process of its own."""
