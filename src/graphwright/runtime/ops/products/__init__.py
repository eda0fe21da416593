"""Products of matrices and vectors, contractions, and distances of rows."""
