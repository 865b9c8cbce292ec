"""Scenarios: states, tasks, goals and guards, each found by solving it first and proved before it is kept."""
