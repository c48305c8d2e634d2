"""What a job says about its request before it begins: what it does not use, and what it guesses."""
