#!/bin/bash
curl -H "Authorization: Bearer $TOKEN" https://x.org
