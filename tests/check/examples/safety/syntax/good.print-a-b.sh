#!/usr/bin/env python3
print('a" (b')
if x: pass
