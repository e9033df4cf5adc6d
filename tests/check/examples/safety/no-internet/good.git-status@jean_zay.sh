#!/bin/bash
git status
curl http://localhost:8000/health
