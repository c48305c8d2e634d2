"""The phases of a generation (encode, denoise, transition, decode), one function each."""
