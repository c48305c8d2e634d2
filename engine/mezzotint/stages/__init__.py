"""The phases of a picture: encode, denoise, transition, decode; one function each."""
