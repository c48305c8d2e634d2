"""Memory footprints of networks: bytes of weights, live memory and work of forward passes, traced without weights."""
