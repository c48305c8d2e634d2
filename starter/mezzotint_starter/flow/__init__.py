"""Starter-flow: a small FLUX.1 Kontext that makes postcards and edits them by an instruction."""
