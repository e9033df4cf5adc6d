#!/bin/bash
srun -n1 a : -n2 b
