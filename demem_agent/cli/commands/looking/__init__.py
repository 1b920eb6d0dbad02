"""Commands that look into a memory."""
