"""Every statement the store runs, compiled once to text with named parameters, by subject.

Each statement on memories names the shelf in its predicate, by-id ones too: an id alone never
reaches a row.
"""
