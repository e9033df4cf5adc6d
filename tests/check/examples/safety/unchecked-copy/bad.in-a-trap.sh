#!/bin/bash
#SBATCH --time=10
cleanup() {
  rsync -a "${WORK_DIR}/checkpoints/" "$HOME/checkpoints/"
  rm -rf "$WORK_DIR"
}
trap cleanup EXIT
python train.py --output_dir "$WORK_DIR/checkpoints"
