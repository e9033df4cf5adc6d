#!/bin/bash
set -o pipefail
srun python train.py | tee train.log
code=$?
exit $code
