"""Which line has taken the place of which: sentences compared, lines found, and looked up."""
