# shellcheck shell=bash disable=all
# Typed on the login node: lumi_pytorch.md
module load LUMI
module load cotainr
cotainr build lumi-sfantao-pytorch-lumi-base.sif --base-image=/appl/local/containers/sif-images/lumi-rocm-rocm-5.5.3.sif --conda-env=py311_rocm542_pytorch.yml
singularity exec lumi-sfantao-pytorch-lumi-base.sif python -c 'import torch; print("extended image", torch.__version__)'
submit lumi.sbatch
cat output_lumi.sbatch_1.txt
