"""Whether the matrices of Algorithm 1 of Sharma and Sharma have what is promised of them, in all forms."""
