"""Scenarios by language models: one writes a task, one solves it, one decides how to check it; none sees another's text."""
