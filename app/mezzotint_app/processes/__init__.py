"""The engine and library service processes: running them, reading their output and restarting them."""
