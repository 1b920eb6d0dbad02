"""What a person sees: one file a table, all of them from records alone."""
