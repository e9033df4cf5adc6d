#!/bin/bash
#SBATCH --exclusive=user
