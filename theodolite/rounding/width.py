"""How wide encoders' vectors are: what tells a matrix that was turned on its side."""

# No encoder's vectors are wider than some 16,000 numbers …
WIDEST = 16_384
# … and those of more than this are whole blocks.
ANY_WIDTH = 512
BLOCK = 64


def odd_width(dim: int) -> bool:
    """Whether vectors of this width are likelier to be a matrix turned on its side.

    >>> [odd_width(d) for d in (300, 384, 768, 4096, 3001, 200_000)]
    [False, False, False, False, True, True]
    """
    return dim > WIDEST or (dim > ANY_WIDTH and dim % BLOCK != 0)
