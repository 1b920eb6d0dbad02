"""What feedback says about an answer: its channels, and what is credited to whom."""
