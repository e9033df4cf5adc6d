#!/bin/bash
srun --test-only true
