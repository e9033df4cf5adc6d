#!/bin/bash
python server.py &
sleep 30
python client.py
