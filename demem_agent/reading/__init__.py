"""From ranked passages to the text of a reading that stays within its limit."""
