"""Online learners: what they share, the paper's own, corrections of a description, and restarts."""
