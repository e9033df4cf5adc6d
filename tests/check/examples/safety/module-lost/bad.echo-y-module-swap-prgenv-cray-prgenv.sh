#!/bin/bash
echo y | module swap PrgEnv-cray PrgEnv-gnu
srun ./a
