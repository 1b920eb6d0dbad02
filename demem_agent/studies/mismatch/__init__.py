"""Description against decision: how little the one tells of the other on annotated dialogues."""
