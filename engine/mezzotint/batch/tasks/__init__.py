"""What a job stands for: inputs, prompts and matrix, task by task."""
