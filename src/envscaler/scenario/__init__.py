"""Scenarios: a state, a task and what decides it, made from a spec alone or with models, and proved before they are kept."""
