#!/bin/bash
git checkout 89abcdef0123456789abcdef0123456789abcdef
