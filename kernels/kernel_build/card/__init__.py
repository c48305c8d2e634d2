"""Implementation of `make gpu-check`: parts run in separate processes, their results are stored and judged."""
