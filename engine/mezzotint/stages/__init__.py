"""The phases of an image: encode, denoise, transition, decode; one function each."""
