# shellcheck shell=bash disable=all
# Typed on the login node: vista_ml.md
export SHELL=/bin/bash
echo 'module load gcc cuda; module load python3; hostname; python3 -c "import torch; print(\"available\", torch.cuda.is_available())"' |
  idev -p gh-dev -N 1 -n 1 -t 1:00:00
echo 'module load gcc cuda; module load python3; python3 -m venv $SCRATCH/python-envs/test; source $SCRATCH/python-envs/test/bin/activate
pip3 install torch torchvision torchaudio --index-url https://download.pytorch.org/whl/cu124
python3 -I -c "import torch; print(\"own torch\", torch.__version__)"' | idev -p gh-dev -N 1 -n 1 -t 1:00:00
echo 'module load gcc cuda; module load python3_mpi; echo nodes $SLURM_NNODES tasks $SLURM_NTASKS $(srun hostname < /dev/null | sort)
source $SCRATCH/python-envs/test/bin/activate
ibrun -np 2 bash -c "echo rank \$OMPI_COMM_WORLD_RANK of \$OMPI_COMM_WORLD_SIZE on \$(hostname)" < /dev/null
/usr/bin/python3 -c "import mpi4py" 2> /dev/null || exit
ibrun -np 2 /usr/bin/python3 test.py c123-001 < /dev/null' | idev -N 2 -n 2 -p gh-dev -t 01:00:00
# The same with hpcml: the system's PyTorch, and the page's wheels.
hpcml gen --partition gh-dev --time 10 --account A -- python3 -c 'import os, torch
print("system torch", torch.cuda.is_available(), os.environ["LOADEDMODULES"])' > system.sh
submit -o system.txt system.sh; cat system.txt
hpcml env venv --cuda 12.4 --venv '$SCRATCH/python-envs/made' > setup.sh; grep -o 'torch --index-url .*' setup.sh; bash setup.sh
