"""What goes over the wire between clients of models and providers, whose client it may be."""
