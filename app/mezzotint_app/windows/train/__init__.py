"""The Train page: form, images, and trainings."""
