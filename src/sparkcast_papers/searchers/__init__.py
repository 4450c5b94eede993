"""Searches as papers did them, one file each."""
