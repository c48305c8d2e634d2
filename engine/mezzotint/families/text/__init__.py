"""Words into conditioning: prompt weights, CLIP, textual inversion."""
