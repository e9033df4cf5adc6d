#!/bin/bash
set -o pipefail
python train.py 2>&1 | tee train.log
echo done
