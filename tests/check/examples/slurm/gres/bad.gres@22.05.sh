#!/bin/bash
#SBATCH --gres=
