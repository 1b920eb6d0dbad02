"""What stands around every call of a provider: the way there, time, faults, counts."""
