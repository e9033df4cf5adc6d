#!/bin/bash
#SBATCH -n1 hetjob -n2
