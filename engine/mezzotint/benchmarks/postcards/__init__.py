"""The postcards data set of the starter models: scenes, captions, drawings, and the judge of images."""
