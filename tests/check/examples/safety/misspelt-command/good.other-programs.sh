#!/bin/bash
ipython analysis.py
cython kernel.pyx
usleep 1000
crun ./a
zsync http://localhost/x
python2 old.py
