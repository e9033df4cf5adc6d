#!/bin/bash
#SBATCH --cons gpu
