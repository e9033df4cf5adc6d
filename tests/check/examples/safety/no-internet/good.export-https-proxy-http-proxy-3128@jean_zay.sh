#!/bin/bash
export https_proxy=http://proxy:3128
pip install torch
