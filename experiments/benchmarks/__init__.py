"""What doccluster costs beside its peers, measured side by side on one machine."""
