"""Brings memories in from elsewhere and takes them out, each format in a module of its own.

All of them reach memories through a `Scope` alone: whose shelf it is and who acts is decided by
whoever calls, never by what is read.
"""
