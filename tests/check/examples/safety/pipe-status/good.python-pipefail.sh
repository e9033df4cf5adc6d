#!/bin/bash
set -eo pipefail
python train.py 2>&1 | tee train.log
