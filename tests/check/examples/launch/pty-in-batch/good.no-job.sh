#!/bin/bash
srun --pty bash
