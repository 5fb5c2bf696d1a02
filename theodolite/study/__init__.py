"""Blind studies: people judging patterns and explanations."""
