"""Drafting: from tasks that people have to the environments they presuppose, and from these to specs."""
