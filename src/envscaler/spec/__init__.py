"""A spec: read with its places, checked before anything runs, formatted, edited, described."""
