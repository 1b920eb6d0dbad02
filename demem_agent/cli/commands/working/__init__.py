"""The commands that work on memories in the background."""
