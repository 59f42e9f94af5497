"""How well a stream finds stories, and how its weights were learned."""
