"""Tries to lose something: crashes, power cuts, errors of the device, sixteen writers at once."""
