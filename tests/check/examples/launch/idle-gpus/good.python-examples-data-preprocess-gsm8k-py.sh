#!/bin/bash
#SBATCH -N1 --gpus-per-node=8
python examples/data_preprocess/gsm8k.py
python upload_details.py --data x
python prepare_training_data.py
