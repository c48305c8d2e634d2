"""Images of a job side by side, labelled with the values of its matrix: an X/Y/Z grid."""
