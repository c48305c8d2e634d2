"""The roofline of each kernel: what bounds it on which GPU, written into docs/kernels.md."""
