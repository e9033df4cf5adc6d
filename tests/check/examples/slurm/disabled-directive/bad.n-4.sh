#!/bin/bash
#SBATCH -n 4
#SBATCh --time=10
