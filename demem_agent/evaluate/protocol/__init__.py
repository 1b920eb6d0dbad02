"""The paper's protocol: a model answers from what a system reads, judges mark the answers."""
