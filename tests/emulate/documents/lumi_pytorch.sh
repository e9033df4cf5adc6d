# shellcheck shell=bash disable=all
# Typed on the login node: lumi_pytorch.md
module load LUMI
module load cotainr
cotainr build lumi-sfantao-pytorch-lumi-base.sif --base-image=/appl/local/containers/sif-images/lumi-rocm-rocm-5.5.3.sif --conda-env=py311_rocm542_pytorch.yml
singularity exec lumi-sfantao-pytorch-lumi-base.sif python -c 'import torch; print("extended image", torch.__version__)'
submit lumi.sbatch
cat output_lumi.sbatch_1.txt
# The same with hpcml: a cotainr that fails leaves nothing that stops the next run.
hpcml env container --container made.sif > setup.sh
(
  cotainr() { : > made.sif && return 1; }
  export -f cotainr
  bash setup.sh; echo "failed $? with $(ls made.sif* 2> /dev/null | wc -l) files"
)
bash setup.sh && singularity exec made.sif python -c 'import torch; print("image of hpcml", torch.__version__)'
