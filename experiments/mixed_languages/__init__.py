"""Is a set in many languages clustered as well as each of its languages apart?"""
