#!/bin/bash
chmod 1777 shared
chmod u+w x
