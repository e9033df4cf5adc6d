#!/bin/bash
#SBATCH –nodes=2
