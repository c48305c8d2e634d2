"""Training of models of the composed scenes, phase by phase, unattended."""
