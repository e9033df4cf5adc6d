# shellcheck shell=bash disable=all
# Typed on the login node: zurada_pytorch.rst
module load miniforge3/25.3.1-gcc-11.4.1
conda env list
conda activate pytorch
python -c 'print("in the global environment")'
for version in 11.8 12.6 12.8; do
  conda create --name my_pytorch_cuda$version
  conda activate my_pytorch_cuda$version
  pip install torch torchvision torchaudio --index-url https://download.pytorch.org/whl/cu${version/./}
  python -I -c 'import sys, torch; print("installed in", sys.prefix.rsplit("/", 1)[1])'
done
echo 'module load miniforge3/25.3.1-gcc-11.4.1; conda activate my_pytorch_env; python pytorch_test.py; nvidia-smi -L' |
  srun --partition=gpu2h100 --job-name test_my_pytorch_env --time=05:00 --nodes=1 --gpus=1 --ntasks-per-node=1 --mem=4G /bin/bash -i
submit ddp_single_node.sbatch # the page forgets the memory that the site wants
submit --mem=4G -o twice.txt ddp_single_node.sbatch; echo "as on the page:"; cat twice.txt
submit --mem=4G --ntasks-per-node=1 --cpus-per-task=32 -o once.txt ddp_single_node.sbatch; echo "one launcher:"; cat once.txt
# The same with hpcml: an environment whose name another one begins with, and once more.
hpcml env conda --cuda 12.8 --conda my_pytorch_cuda12 --packages numpy > setup.sh
bash setup.sh && bash setup.sh
hpcml env conda --cuda 12.9 | grep -o 'torch --index-url .*'
