"""How the database came to be as it is, a step a file; run by ``theodolite.study.database``."""
