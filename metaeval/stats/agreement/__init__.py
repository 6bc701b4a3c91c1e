"""How well raters agree with each other."""
