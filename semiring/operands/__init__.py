"""What comes in: one kind of operand a file, and the table that reads them."""
