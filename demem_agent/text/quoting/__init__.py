"""How what was said stands in a reading: whole or cut, and never for more than it is."""
