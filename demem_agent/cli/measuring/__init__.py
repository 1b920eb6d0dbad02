"""What the commands that measure have in common."""
