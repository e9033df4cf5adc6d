#!/bin/bash
srun --mem-bind=local ./a.out
