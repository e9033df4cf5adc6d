#!/bin/bash
srun --mem_bind=local ./a
