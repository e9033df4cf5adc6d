#!/bin/bash
srun ./a.out --cpu_bind=cores
