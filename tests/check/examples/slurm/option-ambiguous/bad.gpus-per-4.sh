#!/bin/bash
#SBATCH --gpus-per=4
