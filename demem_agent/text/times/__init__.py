"""The times that people speak of, and the days that they mean."""
