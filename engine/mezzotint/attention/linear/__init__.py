"""Kernelized attention, in time and memory linear in the number of tokens."""
