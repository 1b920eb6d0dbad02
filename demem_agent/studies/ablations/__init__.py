"""What slots, routing, summaries and certified splits are each worth."""
