"""Everything that ships, as tables of entries that `plugin.py` gives through the public hooks."""
