#!/bin/bash
srun python train.py
rc=$?
echo "rc=$rc"
if [ $rc -ne 0 ]; then exit $rc; fi
echo done
