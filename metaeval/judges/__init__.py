"""The agreement of a judge's versions with people."""
