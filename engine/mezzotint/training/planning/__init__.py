"""Planning of the memory that a training needs."""
