#!/bin/bash
#SBATCH -e ~me/x.log
