#!/bin/bash
wandb login 89abcdef0123456789abcdef0123456789abcdef
