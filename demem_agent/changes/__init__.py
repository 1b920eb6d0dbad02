"""Which of two lines holds: judged when it is asked, from what both say, by whom and when."""
