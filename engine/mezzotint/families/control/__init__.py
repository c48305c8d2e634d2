"""ControlNets of U-Nets: recognised, fitted to a model as further components, and asked before its denoiser."""
