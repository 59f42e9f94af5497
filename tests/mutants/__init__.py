"""Small changes of the program, one at a time, that some test should notice: `make mutants N=30`."""
