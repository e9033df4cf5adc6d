#!/bin/bash
#PBS -l nodes=4
