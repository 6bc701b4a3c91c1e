"""What raters answered, by language, dataset and system."""
