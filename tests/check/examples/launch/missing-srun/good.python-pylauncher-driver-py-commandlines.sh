#!/bin/bash
#SBATCH --nodes=4
python pylauncher_driver.py commandlines
