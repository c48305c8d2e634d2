"""Products fused with what surrounds them in a block: norm and modulation before, gate and residual after."""
