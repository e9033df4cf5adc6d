#!/bin/bash
X=${Y/a
srun true
