"""What the tensors of PyTorch and JAX share: derivatives, leading axes, and PyTorch's operators."""
