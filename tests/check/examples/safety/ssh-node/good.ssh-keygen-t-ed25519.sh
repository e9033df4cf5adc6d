#!/bin/bash
ssh-keygen -t ed25519
