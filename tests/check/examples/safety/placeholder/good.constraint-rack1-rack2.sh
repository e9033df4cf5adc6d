#!/bin/bash
#SBATCH --constraint="[rack1|rack2]"
