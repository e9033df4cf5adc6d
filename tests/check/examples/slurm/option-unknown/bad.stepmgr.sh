#!/bin/bash
#SBATCH --stepmgr
