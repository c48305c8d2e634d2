"""What is written: prompts, their tokens, weights, completion, history and what is drawn from alternatives."""
