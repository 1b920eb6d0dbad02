"""When a slot must be split: the trigger, its tests, the division, the certificate."""
