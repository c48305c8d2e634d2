"""Planning: where each network is in each phase, and at which precision, decided before anything is loaded."""
