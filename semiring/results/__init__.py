"""Objects that people hold and question: factors, reachability, reductions."""
