"""What worked in which situations: situations known again, and the learner that chooses."""
