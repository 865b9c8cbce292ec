"""Mutation: faults put into sound specs, to measure what the assessor finds."""
