"""Words, in any language: how a text is cut into them, and what some of them tell."""
