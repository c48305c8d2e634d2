"""Sparse attention: tables of the blocks of keys that each block of queries sees, and attention by them."""
