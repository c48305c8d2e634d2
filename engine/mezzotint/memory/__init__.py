"""Memory management: what models need, what the machine has, planning, and execution of the plan."""
