#!/bin/bash
#SBATCH --nodes=two
