"""How decisions among actions would have gone with another policy, as far as their log can tell."""
