"""How the memories of one shelf are found: analysis, index, ranking, passages, and the results."""
