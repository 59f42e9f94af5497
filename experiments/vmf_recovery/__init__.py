"""Whether the mixture finds the parameters that a corpus was drawn with: bias and spread over seeds."""
