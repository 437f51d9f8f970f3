"""From expressions to compiled CUDA code: text, launches, copies."""
