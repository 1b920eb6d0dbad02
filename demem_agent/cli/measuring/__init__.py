"""The commands that measure (``eval``, ``bench``, ``audit``, ``lab``), and what they share."""
