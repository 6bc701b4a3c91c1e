"""How near the versions of a judge are to people, on the labels that may tell."""
