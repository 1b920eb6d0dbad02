"""The command that works on many memories at once."""
