"""The models of this machine, and those that can be had."""
