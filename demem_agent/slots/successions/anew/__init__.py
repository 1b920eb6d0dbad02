"""Current values told casually: "Lendkai 33 is home now", "paid 500 back, 1000 left"."""
