# shellcheck shell=bash disable=all
# Typed on the login node: alliance_pytorch.md
avail_wheels torch
submit pytorch-test.sh; cat test-1.out
module load StdEnv/2023 gcc cuda/12.2 cmake protobuf cudnn python/3.11 abseil cusparselt opencv/4.8.1
virtualenv --no-download --clear ENV && source ENV/bin/activate
pip install --no-index torch numpy
python -I -c 'import torch, numpy; print("for LibTorch:", torch.__version__)'
pip install --no-index torch==1.9.1
# The same with hpcml: the list of wheels leaves the user's own alone.
deactivate; module purge
echo mine > requirements.txt
hpcml env wheelhouse --packages numpy > setup.sh; bash setup.sh; cat requirements.txt
rm requirements.txt; bash setup.sh; cat requirements.txt
mkdir built; hpcml env libtorch --venv built/env > libtorch.sh
bash libtorch.sh; bash libtorch.sh; grep -o '[^/]*/cuda/[^"]*' built/env/libtorch.cmake
