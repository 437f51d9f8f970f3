"""Objects that people hold and question: reachability, and graphs without cycles."""
