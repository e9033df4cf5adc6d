#!/bin/bash
#SBATCH --job-name=todo_list
