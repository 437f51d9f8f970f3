"""The CUDA engine: one template for products, one for closures, every algebra generated into them."""
