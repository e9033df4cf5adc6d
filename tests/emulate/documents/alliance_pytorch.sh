# shellcheck shell=bash disable=all
# Typed on the login node: alliance_pytorch.md
avail_wheels torch
submit pytorch-test.sh; cat test-1.out
module load StdEnv/2023 gcc cuda/12.2 cmake protobuf cudnn python/3.11 abseil cusparselt opencv/4.8.1
virtualenv --no-download --clear ENV && source ENV/bin/activate
pip install --no-index torch numpy
python -I -c 'import torch, numpy; print("for LibTorch:", torch.__version__)'
pip install --no-index torch==1.9.1
