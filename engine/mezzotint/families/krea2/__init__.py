"""Krea 2: one stream of blocks after a small transformer that fuses layers of a language model (Krea AI, 2026)."""
