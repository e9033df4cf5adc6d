#!/bin/bash
curl -H "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.aB3dE5fG7hI9jK1lM3nO5pQ7" https://x.org
