"""Memory decided before it is used: what a model needs, what a machine has, the plan, and the carrying out."""
