"""How a whole run goes, from a source to a run folder with its report."""
