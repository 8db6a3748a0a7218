"""Lets Triton compile until it has laid out memory: what it says of a kernel is known then, and most of its work comes later."""
from heddle_triton import until_memory as install  # noqa: F401
