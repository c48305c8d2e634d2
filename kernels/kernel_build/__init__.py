"""Compiling the kernels, and what their machine code must be: `python -m kernel_build` lists the commands."""
