"""The commands with which a user arranges slots: show, name, pin, merge, and take a split back."""
