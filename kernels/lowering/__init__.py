"""How an algebra is stored and computed on data of a dtype: one form a file."""
