#!/bin/bash
#SBATCHES are described below
srun true
