"""Compile the kernels and check their machine code; `python -m kernel_build` lists the commands."""
