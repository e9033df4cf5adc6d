"""What the documents' programs use of torch, without the seconds that it takes to start."""
from . import cuda, distributed

__version__ = "2.7.1"


class version:
    cuda = hip = None


def randn(*_):
    return b"tensor"


def set_num_threads(number):
    print("threads", number)
