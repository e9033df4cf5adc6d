#!/bin/bash
#SBATCH --Nodes=2
