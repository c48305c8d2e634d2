"""The plan: where each network is in each phase, at which precision, decided before anything is loaded."""
