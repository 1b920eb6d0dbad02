"""Commands on whole memories."""
