"""A quantization scheme for each layer, chosen by measured errors and a target for memory."""
