#!/bin/bash
pip install torch
