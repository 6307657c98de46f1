"""Policies: a posterior and a way to explore make an algorithm."""
