"""Matrix -> partition: seeding, iterations, estimators."""
